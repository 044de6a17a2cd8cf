"""SQLite's errors in words for the operator (DU-15). An error that is not in the table is a bug, and is raised as it
is."""

import sqlite3
from contextlib import AbstractContextManager

from rejoinder.errors import Fault, StoreUnavailable
from rejoinder.store.sql.faults import known_fault, raised_as_fault

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
    sqlite3.SQLITE_IOERR_SHMSIZE: "full",  # the file beside the log could not grow
}


def unavailable(error: Exception, where: str) -> StoreUnavailable | None:
    """The fault behind an error, or None if the error is not the store's."""
    if not isinstance(error, sqlite3.Error):
        return known_fault(error, where)
    # A text that cannot be decoded any more raises an error without a code.
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        text = str(error)
        return StoreUnavailable("corrupt", where, text) if text.startswith("Could not decode") else None
    fault = FAULT_OF.get(code) or FAULT_OF.get(code & 0xFF)
    return StoreUnavailable(fault, where, str(error)) if fault else None


def fault_in(where: str) -> AbstractContextManager[None]:
    """Turns errors raised inside into the faults behind them."""
    return raised_as_fault(where, unavailable)
