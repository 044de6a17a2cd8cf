"""A copy of the room log as of the same moment as the copy of the gateway's store.

The two belong together: the store knows up to which event it has read the log, and which messages it has put into it.
A log older than its store would reuse numbers that the gateway has already taken, and the gateway would answer events
of a newer one a second time.
"""

import secrets
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from rejoinder.errors import StoreUnavailable
from rejoinder.sqlite_copies import Copy
from rejoinder.sqlite_faults import fault_in

PATIENCE = 10.0
"""Seconds to wait for a change that is in progress."""


class Held:
    """The log, locked against writers."""

    def __init__(self, holding: sqlite3.Connection, seen: sqlite3.Connection) -> None:
        self._holding = holding
        self._seen = seen

    def write_to(self, copy: Copy) -> None:
        """Releases the lock, and copies the log as it was under the lock. The copy gets a new id, so that a browser
        which has seen more than it holds starts afresh, instead of resuming at a number that means something else."""
        self._holding.close()
        copy.write(self._seen, lambda db: db.execute("UPDATE journal SET id = ?", (secrets.token_hex(8),)))


@contextmanager
def held(path: str) -> Generator[Held]:
    """Locks the log without changing it. Writers wait meanwhile, so hold it only briefly."""
    where = Path(path).absolute().as_uri()
    # The read-only connection is closed last: a writable one, closed last, would checkpoint the file.
    with (
        fault_in(path),
        closing(_connect(f"{where}?mode=ro")) as seen,
        closing(_connect(f"{where}?mode=rw")) as holding,
    ):
        holding.execute("BEGIN IMMEDIATE")
        seen.execute("BEGIN")
        # The snapshot of a transaction begins with its first read.
        if seen.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'journal'").fetchone() == (0,):
            raise StoreUnavailable("foreign", path)
        yield Held(holding, seen)


def _connect(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
