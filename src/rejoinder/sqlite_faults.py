"""SQLite's errors in the words of the operator (DU-15), for all our databases. An error that is not in the table is a
bug, and is raised as it is."""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rejoinder.errors import Fault, StoreUnavailable

FAULT_OF: dict[int, Fault] = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_PERM: "read-only",
    sqlite3.SQLITE_AUTH: "read-only",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_PROTOCOL: "locked",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_FORMAT: "corrupt",
    sqlite3.SQLITE_IOERR: "unreachable",
    sqlite3.SQLITE_CANTOPEN: "unreachable",
    sqlite3.SQLITE_NOLFS: "full",
}


class Damaged(Exception):
    """What was read is not what was written."""


def unavailable(error: Exception, where: str) -> StoreUnavailable | None:
    """The fault behind an error, or None when the error is not the store's."""
    if isinstance(error, StoreUnavailable):
        return error
    if isinstance(error, Damaged | UnicodeDecodeError):
        return StoreUnavailable("corrupt", where, str(error))
    if not isinstance(error, sqlite3.Error):
        return None
    # A text that cannot be decoded any more raises an error without a code.
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        text = str(error)
        return StoreUnavailable("corrupt", where, text) if text.startswith("Could not decode") else None
    fault = FAULT_OF.get(code & 0xFF)
    return StoreUnavailable(fault, where, str(error)) if fault else None


Unavailable = Callable[[Exception, str], StoreUnavailable | None]


@contextmanager
def fault_in(where: str, unavailable: Unavailable = unavailable) -> Generator[None]:
    """Raises what fails inside as the fault behind it. Not from it: its own text may name what must not be shown."""
    try:
        yield
    except Exception as error:
        fault = unavailable(error, where)
        if fault is None or fault is error:
            raise
        raise fault from None
