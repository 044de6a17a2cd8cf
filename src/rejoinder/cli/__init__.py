"""The command line: `commands` says which commands there are."""

import sys

from rejoinder.programs.interpreter import without_collection


def main() -> None:
    with without_collection():
        from rejoinder.cli.commands import app
    try:
        app()
    except SystemExit as end:
        if leaving := sys.modules.get("rejoinder.cli.leaving"):  # only what runs a loop has something to leave
            leaving.leave(end.code)
        raise
