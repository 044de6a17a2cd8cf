"""A message finds its statements compiled: what it writes was written in the rehearsal, of which nothing is left."""

import asyncio
import re
import sqlite3
from contextlib import closing

import pytest

from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.sqlite import open_store, rehearsal
from rejoinder.store.sqlite.connection import Connection
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE
from rejoinder.wiring.opening import open_channels

CONFIG = """
[agents.scripted]
kind = "scripted"
script = "none.json"

[channels.telegram]
{here}
dm = "open"
"""
FIRST = "INSERT INTO inbox"


@pytest.fixture
def written(monkeypatch) -> list[str]:
    """Every statement of the writer, in order: only the gateway's own connection draws generations."""
    written: list[str] = []

    def overhear(ask):
        def asked(db, sql, *more):
            if db.numbers.generation:
                written.append(sql)
            return ask(db, sql, *more)

        return asked

    monkeypatch.setattr(Connection, "execute", overhear(Connection.execute))
    monkeypatch.setattr(Connection, "change", overhear(Connection.change))
    monkeypatch.setattr(Connection, "executemany", overhear(Connection.executemany))
    return written


async def test_the_first_message_writes_nothing_new(tmp_path, written):
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        settings = read(CONFIG.format(here=platform.config()), "rejoinder.toml", {})
        store = open_store(f"sqlite:{tmp_path / 'kept.db'}")
        agents = {"scripted": ScriptedAgent("Hello.")}
        gateway = Gateway(settings, agents=agents, channels=open_channels(settings), store=store)
        async with Tasks() as tasks, gateway:
            rehearsed = set(written)
            written.clear()
            tasks.start("gateway", gateway.serve())
            await platform.says("ann", "ann", "hello")
            await platform.hears("ann", "Hello.")
            before = list(written)  # how it is shut down is another matter
    first = next(index for index, sql in enumerate(before) if sql.startswith(FIRST))
    assert set(before[first:]) <= rehearsed


async def test_the_first_message_asks_nothing_new(tmp_path, monkeypatch):
    """What is asked about it is asked on the loop, and was asked in the rehearsal."""
    asked: dict[Connection, set[str]] = {}

    def overhear(ask):
        def heard(db, sql, *more):
            asked.setdefault(db, set()).add(sql)
            return ask(db, sql, *more)

        return heard

    monkeypatch.setattr(Connection, "execute", overhear(Connection.execute))
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        settings = read(CONFIG.format(here=platform.config()), "rejoinder.toml", {})
        store = open_store(f"sqlite:{tmp_path / 'kept.db'}")
        fast_reader = store._fast_reader
        rehearsed = set(asked[fast_reader])
        asked[fast_reader].clear()
        agents = {"scripted": ScriptedAgent("Hello.")}
        gateway = Gateway(settings, agents=agents, channels=open_channels(settings), store=store)
        async with Tasks() as tasks, gateway:
            tasks.start("gateway", gateway.serve())
            await platform.says("ann", "ann", "hello")
            await platform.hears("ann", "Hello.")
    assert any("FROM session" in sql for sql in asked[fast_reader])
    assert asked[fast_reader] <= rehearsed


async def test_a_glance_that_fails_is_a_question_for_a_thread(tmp_path, monkeypatch):
    """It is answered anyway, or the fault told."""
    store = open_store(f"sqlite:{tmp_path / 'kept.db'}")
    store._fast_reader.close()
    assert await store.session("nobody") is None
    assert store._fast_reader is None
    await store.close()


async def test_no_statement_of_a_message_makes_a_table(tmp_path, written):
    """SQLite makes one, for each row, of a list in a constraint or an index, and for `RETURNING`: that is costly."""
    store = open_store(f"sqlite:{tmp_path / 'kept.db'}")
    written.clear()
    rehearsal.rehearse(store._db)
    statements = [sql for sql in written if sql.split()[0] in ("INSERT", "UPDATE", "DELETE", "SELECT")]
    assert len(statements) > 20
    for sql in statements:
        nothing = dict.fromkeys(re.findall(r":(\w+)", sql)) or [None] * sql.count("?")
        codes = [row[1] for row in sqlite3.Connection.execute(store._db, f"EXPLAIN {sql}", nothing)]
        assert "OpenEphemeral" not in codes, sql
    await store.close()


def dumped(path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


async def test_a_rehearsal_leaves_nothing_behind(tmp_path):
    path = tmp_path / "kept.db"
    store = open_store(f"sqlite:{path}")
    try:
        before = dumped(path)
        rehearsal.rehearse(store._db)
        assert dumped(path) == before
        assert not [row for row in before if row.startswith("INSERT") and "rehearsal" in row]
    finally:
        await store.close()


async def test_a_fault_in_it_is_not_in_the_way(tmp_path, monkeypatch):
    """What is wrong is told to who needs it."""

    def fails(db, name):
        db.execute("DELETE FROM gateway")
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(rehearsal, "_write", fails)
    store = open_store(f"sqlite:{tmp_path / 'kept.db'}")
    assert (await store.health()).fault is None
    await store.close()
    assert [row for row in dumped(tmp_path / "kept.db") if row.startswith('INSERT INTO "gateway"')]
