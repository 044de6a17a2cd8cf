"""Reads a file of the operator, if it exists."""

import logging
from pathlib import Path

log = logging.getLogger(__name__)

MOST_READ = 64 << 10


def read_notes(path: str) -> str | None:
    """Its first bytes as text; None if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(MOST_READ).decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return None
    except OSError as problem:
        log.warning("%s cannot be read: %s", path, problem.strerror)
        return None
