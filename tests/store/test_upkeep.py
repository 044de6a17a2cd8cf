"""DU-14: the sweep reads what is old and no more, for nobody is answered meanwhile."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from rejoinder.store.base import Retention, Sweep
from rejoinder.store.sql.upkeep import sweep
from rejoinder.store.sql.values import micros, seal
from rejoinder.store.sqlite.connect import connect
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.migrate import migrate, migrations
from rejoinder.testing.store_contract.given import NOW

KEPT = timedelta(days=30)
SWEEP = Sweep(Retention(NOW - KEPT), NOW)


@pytest.fixture
def db() -> Iterator[Connection]:
    db = connect(":memory:", 0.0)
    migrate(db, ":memory:", migrations())
    db.execute("INSERT INTO place (channel, account, chat, thread) VALUES ('web', 'default', 'lobby', '')")
    yield db
    db.close()


def came(db: Connection, *ages: timedelta) -> None:
    """Settled events of these ages, and something the gateway said then."""
    at = [micros(NOW - age) for age in ages]
    first = db.execute("SELECT count(*) FROM inbox").fetchone()[0]
    db.executemany(
        "INSERT INTO inbox (channel, account, event, message, sender, accepted, state, body) "
        "VALUES ('web', 'default', ?, ?, 'anna', ?, 'settled', ?)",
        ((f"e{number}", f"m{number}", each, seal(b"{}")) for number, each in enumerate(at, first)),
    )
    db.executemany(
        "INSERT INTO part (place, key, kind, state, planned, body) VALUES (1, ?, 'say', 'sent', ?, ?)",
        ((f"k{number}", each, seal(b"{}")) for number, each in enumerate(at, first)),
    )


def left(db: Connection) -> list[tuple[int, ...]]:
    return [db.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("inbox", "part")]


def test_what_is_young_is_not_read(db: Connection) -> None:
    work: list[int] = []

    def steps_of_a_sweep() -> int:
        work.clear()
        db.set_progress_handler(lambda: work.append(1) or 0, 10)
        assert sweep(db, SWEEP) == 0
        db.set_progress_handler(None, 0)
        return len(work)

    came(db, *[timedelta(days=1)] * 10)
    of_few = steps_of_a_sweep()
    came(db, *[timedelta(days=1)] * 2000)
    assert steps_of_a_sweep() < of_few + 20  # to read them would be hundreds


def test_a_clock_that_was_ahead_keeps_nothing_for_ever(db: Connection) -> None:
    """What came then is of tomorrow; what came after it, and is old, goes anyway."""
    came(db, timedelta(days=-400), 2 * KEPT, timedelta(days=1))
    assert sweep(db, SWEEP) == 2
    assert left(db) == [(2,), (2,)]
