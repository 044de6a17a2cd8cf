"""The command line: `commands` says which commands there are."""

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
    except KeyboardInterrupt:  # the commands are still being loaded
        sys.exit(INTERRUPTED)
    except SystemExit as end:
        if process_end := sys.modules.get("rejoinder.cli.process_end"):  # only what runs a loop may be kept from ending
            process_end.end_if_kept(end.code)
        raise
