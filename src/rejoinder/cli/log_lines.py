"""The log on standard error: an entry is always one line, whoever wrote its words.

It may contain texts of agents and people; none of these can begin a new line, move the cursor or set a colour.
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
        """A traceback has many lines; they are indented, so that none looks like an entry."""
        return "\n".join(f"  {line}" for line in harmless(super().formatException(ei)).splitlines())


def log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(FORMAT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def format_last_resort() -> None:
    """A command that keeps no log still prints warnings to standard error; they get the same form."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(LogLines("%(message)s"))
