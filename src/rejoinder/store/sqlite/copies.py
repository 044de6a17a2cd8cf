"""A copy of one of our databases as of one moment, while others write to it."""

import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

from rejoinder.errors import StoreUnavailable
from rejoinder.store.sqlite.faults import fault_in


class Copy:
    """The copy gets its name only once it is complete and on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.unfinished = path.with_name(path.name + ".unfinished")

    def write(self, db: sqlite3.Connection, change: Callable[[sqlite3.Connection], object] = lambda copy: None) -> None:
        """Copies the database as this connection sees it, compacted. `change` alters the copy."""
        with fault_in(str(self._path)), closing(sqlite3.connect(self.unfinished, isolation_level=None)) as copy:
            # This file needs no journal: nothing else reads it, and an interrupted copy starts again.
            copy.execute("PRAGMA locking_mode = EXCLUSIVE")
            copy.execute("PRAGMA journal_mode = OFF")
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = OFF")  # `backup` has set that of the original
            change(copy)
            copy.execute("VACUUM")
        _sync(self.unfinished)

    def put_in_place(self) -> None:
        _remove_log_of(self._path)
        os.replace(self.unfinished, self._path)
        _sync(self._path.parent)


@contextmanager
def copy_at(path: Path) -> Generator[Copy]:
    """A copy that is not put into place leaves nothing behind."""
    copy = Copy(path)
    remove_database(copy.unfinished)
    try:
        yield copy
    except OSError as error:
        raise StoreUnavailable("unreachable", str(path), error.strerror or "") from error
    finally:
        remove_database(copy.unfinished)


def remove_database(path: Path) -> None:
    """Removes it with the files that SQLite keeps beside it."""
    _remove_log_of(path)
    path.unlink(missing_ok=True)


def _remove_log_of(path: Path) -> None:
    """Removes the log of the former database, which SQLite would replay into the one that takes its place."""
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
