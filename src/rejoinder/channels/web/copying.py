"""A copy of the room log as of the moment of which the gateway's store is copied.

The two belong together: the store knows up to which event it has read the log, and which messages it has put into it.
A log that were older than its store would give numbers out again that the gateway has heard already, and one that were
newer would be answered a second time.
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
"""Seconds to wait for a change that is under way."""


class Held:
    """The log, with nobody writing to it until it is copied."""

    def __init__(self, holding: sqlite3.Connection, seen: sqlite3.Connection) -> None:
        self._holding = holding
        self._seen = seen

    def write_to(self, copy: Copy) -> None:
        """Lets go of it, and copies what it was. The copy is a log of its own: a browser that has seen more than is in
        it begins anew, instead of resuming at a number that means something else there."""
        self._holding.close()
        copy.write(self._seen, lambda db: db.execute("UPDATE journal SET id = ?", (secrets.token_hex(8),)))


@contextmanager
def held(path: str) -> Generator[Held]:
    """Whoever writes waits meanwhile, so it is not for long. Nothing of it is changed."""
    where = Path(path).absolute().as_uri()
    # Who looks is closed last: whoever may write would tidy the file up.
    with (
        fault_in(path),
        closing(_connect(f"{where}?mode=ro")) as seen,
        closing(_connect(f"{where}?mode=rw")) as holding,
    ):
        holding.execute("BEGIN IMMEDIATE")
        seen.execute("BEGIN")
        # The view begins with the first thing that is read.
        if seen.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'journal'").fetchone() == (0,):
            raise StoreUnavailable("foreign", path)
        yield Held(holding, seen)


def _connect(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
