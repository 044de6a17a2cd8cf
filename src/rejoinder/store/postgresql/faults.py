"""PostgreSQL's errors in words for the operator (SC-22). An error that is not in the table is a bug, and is raised as
it is. No sentence contains a password: the address is shown without it, and an unreadable address is not repeated."""

import re
from contextlib import AbstractContextManager
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from rejoinder.errors import BadConfiguration, Fault, StoreUnavailable
from rejoinder.open_files import has_too_many_open
from rejoinder.store.sql.faults import known_fault, raised_as_fault

BY_STATE: Final[dict[str, Fault]] = {
    "08": "away",
    "25006": "standby",
    "25P03": "away",
    "28": "no-login",
    "3D000": "no-database",
    "40001": "locked",
    "40P01": "locked",
    "42501": "no-rights",
    "53100": "full",
    "53200": "crowded",
    "53300": "crowded",
    "55P03": "locked",
    "57014": "locked",
    "57P": "away",
    "58": "away",
    "XX001": "corrupt",
    "XX002": "corrupt",
}
"""Faults by the beginning of the error's SQLSTATE; the longest match counts."""

BY_TEXT: Final[tuple[tuple[re.Pattern[str], Fault], ...]] = (
    (re.compile(r"too many (clients|connections)|connection slots", re.IGNORECASE), "crowded"),
    (re.compile(r"too many open files", re.IGNORECASE), "no-files"),
    (re.compile(r"password|role \"|authentication|pg_hba\.conf|certificate", re.IGNORECASE), "no-login"),
    (re.compile(r"database \".*\" does not exist"), "no-database"),
    (re.compile(r"permission denied"), "no-rights"),
    (re.compile(r"session is (read-only|not read-write)|hot standby"), "standby"),
)
"""For refused connections, which have no SQLSTATE: PostgreSQL gives the reason in a sentence."""

AGAIN: Final = frozenset({"40001", "40P01"})
"""Two transactions were in each other's way: the write is tried again."""


def address(url: str) -> str:
    """The address without its password. If a password contains a character that should have been escaped, part of it
    may be anywhere in the address; then nothing is repeated."""
    try:
        parts: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        parts = {"host": "@"}
    if "@" in str(parts.get("host", "")) or not re.fullmatch(r"[\d,]*", str(parts.get("port", ""))):
        hint = "write postgresql://USER@HOST/DATABASE, with special characters as %40 and the like"
        raise BadConfiguration(f"gateway.store: this is not an address of PostgreSQL; {hint}")
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    return f"postgresql://{user}{parts.get('host', '')}{port}/{parts.get('dbname', '')}"


def unavailable(error: BaseException, where: str) -> StoreUnavailable | None:
    """The fault behind an error, or None if the error is not the store's."""
    if isinstance(error, OSError):
        fault = "no-files" if has_too_many_open(error) else "away"
        return StoreUnavailable(fault, where, error.strerror or str(error))
    if not isinstance(error, psycopg.Error):
        return known_fault(error, where)
    fault = _fault(error)
    return None if fault is None else StoreUnavailable(fault, where, _said(error))


def _fault(error: psycopg.Error) -> Fault | None:
    if error.sqlstate is not None:
        fitting = [start for start in BY_STATE if error.sqlstate.startswith(start)]
        return BY_STATE[max(fitting, key=len)] if fitting else None
    if not isinstance(error, psycopg.OperationalError):
        return None
    for text, fault in BY_TEXT:
        if text.search(str(error)):
            return fault
    return "away"


def _said(error: psycopg.Error) -> str:
    """What the server said, in one line."""
    said = error.diag.message_primary or str(error).strip().splitlines()[-1]
    return re.sub(r"^.*?(?:FATAL|ERROR):\s*", "", said).strip().rstrip(".")


def fault_in(where: str) -> AbstractContextManager[None]:
    """Turns errors raised inside into the faults behind them."""
    return raised_as_fault(where, unavailable)
