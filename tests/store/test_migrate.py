"""DU-14: schema versions go forward, a newer one is refused, nothing is deleted."""

import asyncio
import re
import sqlite3
from pathlib import Path

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Accept
from rejoinder.store.sql.values import as_written, micros
from rejoinder.store.sqlite import store as sqlite
from rejoinder.store.sqlite.connect import connect
from rejoinder.store.sqlite.migrate import Migration, migrate, migrations
from rejoinder.store.sqlite.store import open_reader, open_store
from rejoinder.testing.store_contract.given import NOW, an_inbound
from tests import disks


def test_the_numbers_are_whole() -> None:
    assert [step.number for step in migrations()] == [*range(1, len(migrations()) + 1)]


def test_a_store_in_memory_is_as_one_that_took_every_step(tmp_path: Path) -> None:
    """The first is a copy of what the steps make, and both know their version."""

    def made(where: str) -> list[str]:
        db = connect(where, 1.0)
        try:
            migrate(db, where, migrations())
            marks = [str(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("user_version", "application_id")]
            return [*marks, *db.iterdump()]
        finally:
            db.close()

    assert made(":memory:") == made(str(tmp_path / "rejoinder.db"))


def in_store(path: Path, schema: list[Migration] | None = None) -> int:
    """Opens it, accepts one more event, and counts them."""

    async def visit() -> int:
        store = open_store(f"sqlite:{path}", schema=schema)
        try:
            count = len((await store.recover(NOW)).events)
            await store.write(Accept((an_inbound(count),), NOW))
            return count + 1
        finally:
            await store.close()

    return asyncio.run(visit())


def of_version(path: Path, number: int) -> None:
    """As a gateway of that version left it, with one event."""
    db = connect(str(path), 1.0)
    migrate(db, str(path), migrations()[:number])
    inbound = an_inbound(0)
    db.execute(
        "INSERT INTO inbox (channel, account, event, message, sender, accepted, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        ("telegram", "default", inbound.event_id, inbound.message_id, "anna", micros(NOW), as_written(inbound)[1]),
    )
    db.close()


def test_a_newer_version_brings_its_rows_along_and_is_refused_by_the_older(tmp_path: Path) -> None:
    path = tmp_path / "rejoinder.db"
    assert in_store(path) == 1
    later = [*migrations(), Migration(len(migrations()) + 1, "CREATE TABLE later (a TEXT) STRICT;\n")]
    assert in_store(path, later) == 2
    newer = f"schema {len(later)}, this version knows up to {len(later) - 1}.*newer rejoinder"
    with pytest.raises(StoreUnavailable, match=newer) as refusal:
        in_store(path)
    assert refusal.value.fault == "newer"
    assert in_store(path, later) == 3


def test_what_was_read_out_of_sentences_has_columns(tmp_path: Path) -> None:
    """DE-13, IN-32: what was given up for a part, and what was overheard, as the version before wrote it down."""
    path = tmp_path / "rejoinder.db"
    of_version(path, 13)
    db = sqlite3.connect(path)
    db.executescript(
        "UPDATE inbox SET state = 'settled', reason = 'overheard: not addressed';"
        "INSERT INTO place (id, channel, account, chat, thread) VALUES (1, 'fake', 'default', 'room', '');"
        "INSERT INTO part (place, key, kind, planned, body, error) VALUES "
        "(1, 'a', 'say', 0, x'', '[without formatting] [without target] gone'),"
        "(1, 'b', 'say', 0, x'', 'a [without b]');"
    )
    db.close()
    assert in_store(path) == 1
    db = sqlite3.connect(path)
    try:
        rows = db.execute("SELECT conceded, error FROM part ORDER BY key").fetchall()
        assert rows == [("formatting target", "gone"), ("", "a [without b]")]
        assert db.execute("SELECT overheard, state FROM inbox ORDER BY id").fetchall() == [(1, "settled")]
    finally:
        db.close()


def test_what_an_older_version_kept_is_held_to_the_same(tmp_path: Path) -> None:
    """The third version changes the text of constraints where they stand: rows and rules stay, lists are gone."""
    path = tmp_path / "rejoinder.db"
    of_version(path, 2)
    assert in_store(path) == 2
    db = sqlite3.connect(path)
    try:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        made = [sql for (sql,) in db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")]
        assert not [sql for sql in made if re.search(r"IN \('\w+', '\w+', ", sql)]
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            db.execute("UPDATE inbox SET state = 'lost'")
        assert db.execute("SELECT state, count(*) FROM inbox GROUP BY state").fetchall() == [("new", 2)]
    finally:
        db.close()


def test_what_was_claimed_is_planned_again(tmp_path: Path) -> None:
    """The fourth version has no step between planned and sending."""
    path = tmp_path / "rejoinder.db"
    of_version(path, 3)
    db = sqlite3.connect(path)
    try:
        db.execute("INSERT INTO place (channel, account, chat, thread) VALUES ('web', 'default', 'lobby', '')")
        db.execute(
            "INSERT INTO part (place, key, kind, state, lease_until, planned, body) "
            "VALUES (1, 'a', 'say', 'claimed', 1, 1, x'')"
        )
        db.commit()
        in_store(path)
        assert db.execute("SELECT state FROM part").fetchall() == [("planned",)]
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            db.execute("UPDATE part SET state = 'claimed'")
    finally:
        db.close()


def test_what_is_there_gets_its_home(tmp_path: Path) -> None:
    """SC-1: places and sessions of the version before have the home that new ones would get; what it left under way is
    suspected as it would have been. What a job said there once does not make the job the owner of the chat."""
    path = tmp_path / "rejoinder.db"
    of_version(path, next(step.number for step in migrations() if "CREATE TABLE shard" in step.sql) - 1)
    db = sqlite3.connect(path)
    try:
        db.executescript("""
            INSERT INTO place (channel, account, chat, thread) VALUES
              ('telegram', 'default', '-100', 't1'), ('telegram', 'default', '7', ''), ('web', 'default', 'lobby', ''),
              ('telegram', 'default', '-200', '');
            INSERT INTO session (key, version, touched, body) VALUES
              ('helper:telegram:default:group:-100:thread:t1', 1, 1, x''), ('helper:main', 1, 1, x'');
            INSERT INTO turn (session, place, opened, body) VALUES ('helper:main', 2, 1, x'00000000');
            INSERT INTO turn (session, place, state, opened, closed, outcome, body) VALUES
              ('helper:cron:morning', 4, 'closed', 0, 1, 'answered', x'00000000'),
              ('helper:cron:morning', 2, 'closed', 0, 1, 'answered', x'00000000');
            INSERT INTO run VALUES ('helper:main', 1, 1, 1);
            INSERT INTO part (place, key, kind, state, generation, lease_until, planned, body)
              VALUES (3, 'a', 'say', 'sending', 1, 1, 1, x'00000000');
        """)
        db.close()
        asyncio.run(claimed(path))
        db = sqlite3.connect(path)
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("SELECT home, shard FROM place WHERE id <= 4 ORDER BY id").fetchall() == [
            ("telegram:default:-100", 0),
            ("main", 0),
            ("web:default:lobby", 0),
            ("telegram:default:-200", 0),
        ]
        assert db.execute("SELECT home FROM session ORDER BY key").fetchall() == [("main",), ("telegram:default:-100",)]
        assert db.execute("SELECT crashes, alone, shard FROM turn WHERE state = 'open'").fetchall() == [(1, 1, 0)]
        assert db.execute("SELECT state FROM part").fetchall() == [("unknown",)]
        assert db.execute("SELECT count(*) FROM run").fetchall() == [(0,)]
    finally:
        db.close()


async def claimed(path: Path) -> None:
    store = open_store(f"sqlite:{path}")
    assert await store.claim(0, "the next") is not None
    await store.close()


def test_numbers_go_on_without_being_written_down_each_time(tmp_path: Path) -> None:
    """The nineteenth version draws the numbers of events itself: those that the version before gave to events that are
    gone do not come again."""
    path = tmp_path / "rejoinder.db"
    of_version(path, 18)
    db = sqlite3.connect(path)
    try:
        db.execute("UPDATE sqlite_sequence SET seq = 7 WHERE name = 'inbox'")
        db.commit()
        assert in_store(path) == 2
        assert db.execute("SELECT id FROM inbox ORDER BY id").fetchall() == [(1,), (8,)]
        assert db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'inbox'").fetchall() == [(7,)]
        assert in_store(path) == 3
        assert db.execute("SELECT max(id) FROM inbox").fetchone() == (9,)
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        db.close()


async def test_who_only_looks_does_not_migrate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway brings a store up to date, never a command beside it."""
    path = tmp_path / "rejoinder.db"
    await open_store(f"sqlite:{path}").close()
    later = [*migrations(), Migration(len(migrations()) + 1, "CREATE TABLE later (a TEXT) STRICT;\n")]
    monkeypatch.setattr(sqlite, "migrations", lambda: later)
    reader = open_reader(f"sqlite:{path}")
    with pytest.raises(StoreUnavailable, match="Start the gateway once") as refusal:
        await reader.count_rows()
    assert refusal.value.fault == "older"
    await reader.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    """The store is still the old one, and opens as such."""
    path = tmp_path / "rejoinder.db"
    assert in_store(path) == 1
    broken = [*migrations(), Migration(len(migrations()) + 1, "DROP TABLE trace;\nDROP TABLE nowhere;\n")]
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        in_store(path, broken)
    assert in_store(path) == 2


def test_a_disk_that_is_full_keeps_a_migration_waiting(tmp_path: Path) -> None:
    """DU-14, DU-15: the sentence says what to do, and after that nothing is missing."""
    with disks.small(tmp_path, 4) as disk:
        path = disk / "rejoinder.db"
        of_version(path, 7)
        disks.fill(disk / "rest")
        with pytest.raises(StoreUnavailable, match="Free some space") as refusal:
            open_store(f"sqlite:{path}")
        assert refusal.value.fault == "full"
        (disk / "rest").unlink()
        assert in_store(path) == 2


def test_the_database_of_another_program_is_refused_as_it_is(tmp_path: Path) -> None:
    """DU-14: not a byte of it is changed, its journal mode included."""
    path = tmp_path / "theirs.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE theirs (a)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match="not a rejoinder store") as refusal:
        open_store(f"sqlite:{path}")
    assert refusal.value.fault == "foreign"
    assert path.read_bytes() == before
