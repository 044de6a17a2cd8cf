"""The log on standard error: an entry is one line, whoever wrote the words in it.

Texts of agents and people come into it: none of them begins a line of its own, moves the cursor or sets a colour.
"""

import logging
import sys
from types import TracebackType

from rejoinder.unicode_repair import harmless

FORMAT = "%(asctime)s %(levelname)s %(message)s"
Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class LogLines(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = "\\n".join(harmless(record.message).splitlines())
        return super().formatMessage(record)

    def formatException(self, ei: Raised) -> str:
        """A traceback has many lines; each is set in, so that none looks like an entry."""
        return "\n".join(f"  {line}" for line in harmless(super().formatException(ei)).splitlines())


def log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(FORMAT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def format_last_resort() -> None:
    """Warnings of a command that keeps no log go to standard error by themselves: in the same way."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(LogLines("%(message)s"))
