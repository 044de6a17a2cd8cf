"""Connections: how the file is opened, and what is checked before it is trusted."""

import os
import sqlite3
from pathlib import Path

from rejoinder.errors import BadUse, StoreUnavailable
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.copies import copy_at

OURS = 0x526A6E72  # "Rjnr": tells our files from other people's databases

SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA trusted_schema = OFF",
)

sqlite3.register_adapter(bytes, bytes)  # bytes stay as they are; otherwise each value costs a search for an adapter

CHECKED_AT_START = 256 << 20
"""The structure of a file with up to this many bytes is checked completely before it is used."""


def connect(path: str, patience: float, *, read_only: bool = False, exists: bool = False) -> Connection:
    mode = "?mode=ro" if read_only else "?mode=rw" if exists else ""
    target = path if path == ":memory:" else Path(path).absolute().as_uri() + mode
    db = sqlite3.connect(
        target,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        factory=Connection,
        uri=path != ":memory:",
    )
    try:
        _refuse_foreign(db, path)
        for setting in () if read_only else SETTINGS:
            db.execute(setting)
    except BaseException:
        db.close()
        raise
    return db


def _refuse_foreign(db: Connection, path: str) -> None:
    """Called before any setting is made, because the journal mode would persist in a database that is not ours."""
    is_ours = db.execute("PRAGMA application_id").fetchone()[0] == OURS
    if not is_ours and db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] > 0:
        raise StoreUnavailable("foreign", path)


def checked(path: str, patience: float) -> Connection:
    """A connection for writing, to a file whose structure is intact."""
    refuse_read_only(path)
    db = connect(path, patience)
    try:
        pages, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if pages * size <= CHECKED_AT_START:
            _check_structure(db)
    except BaseException:
        db.close()
        raise
    return db


def _check_structure(db: Connection) -> None:
    try:
        found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        found = str(error)  # the schema text itself is damaged and not SQL any more
    if found != "ok":
        raise Damaged(found)


def refuse_read_only(path: str) -> None:
    """Refuses a read-only file. SQLite would open it for reading, and leave read-only files beside it that outlast the
    cause."""
    file = Path(path)
    for needed in (file, file.absolute().parent):
        if path != ":memory:" and needed.exists() and not os.access(needed, os.W_OK, effective_ids=True):
            raise StoreUnavailable("read-only", path, f"no permission to write {needed.name}")


def free_space(path: str) -> int:
    disk = os.statvfs(Path(path).absolute().parent)
    return disk.f_bavail * disk.f_frsize


def backup(db: Connection, path: Path, overwrite: bool) -> None:
    """Runs inside the read transaction that `_in_one_view` has opened."""
    if _is_part_of(db, path):
        raise BadUse(f"{path} is the store itself; name another file for the backup")
    if path.exists() and not overwrite:
        raise BadUse(f"{path} exists already; name another file for the backup, or use --force")
    with copy_at(path) as copy:
        copy.write(db, _renew_logs)
        copy.put_in_place()


def _renew_logs(copy: sqlite3.Connection) -> None:
    copy.execute("UPDATE room_log SET id = lower(hex(randomblob(8)))")


def _is_part_of(db: Connection, path: Path) -> bool:
    """Whether the path is the database, or a file that SQLite or the lock keeps beside it."""
    file = db.execute("PRAGMA database_list").fetchone()[2]
    return bool(file) and str(path.resolve()) in {file + suffix for suffix in ("", "-wal", "-shm", ".lock")}
