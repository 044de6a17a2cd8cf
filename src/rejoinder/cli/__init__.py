"""The command line; `commands` lists the commands."""

import sys
from typing import Final

from rejoinder.programs.interpreter import without_collection

INTERRUPTED: Final = 130
"""The status of a program that Ctrl-C has ended."""


def main() -> None:
    try:
        with without_collection():
            from rejoinder.cli.commands import app
        app()
    except KeyboardInterrupt:  # while the commands are still being loaded
        sys.exit(INTERRUPTED)
    except SystemExit as end:
        if process_end := sys.modules.get("rejoinder.cli.process_end"):  # loaded by programs with a loop
            process_end.end_if_kept(end.code)
        raise
