"""DU-12: group commit without a timer."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.store.base import (
    Accept,
    BeginTurn,
    ClaimPart,
    Destination,
    InboxEvent,
    PlanParts,
    RouteEvent,
    SettleEvent,
)
from rejoinder.store.sqlite import SqliteStore, open_store
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.writer import GROUP, PendingWrite
from rejoinder.testing.store_contract.given import HERE, NOW, an_inbound, an_intent


class Watched(Connection):
    """Counts commits, and the rows each brought."""

    groups: list[int]
    rows: int

    def change(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if sql.startswith("INSERT INTO inbox"):
            self.rows += 1
        return super().change(sql, *arguments)

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if sql == "COMMIT":
            self.groups.append(self.rows)
        if sql in ("COMMIT", "ROLLBACK"):
            self.rows = 0
        return super().execute(sql, *arguments)


@asynccontextmanager
async def watched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[SqliteStore, list[int]]]:
    connect = sqlite3.connect
    groups: list[int] = []
    monkeypatch.setattr(Watched, "groups", groups, raising=False)
    monkeypatch.setattr(Watched, "rows", 0, raising=False)
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "factory": Watched}))
    store = open_store(f"sqlite:{folder / 'rejoinder.db'}")
    groups.clear()
    yield store, groups
    await store.close()


def accept(*numbers: int) -> Accept:
    return Accept(tuple(map(an_inbound, numbers)), NOW)


@asynccontextmanager
async def busy(store: SqliteStore) -> AsyncIterator[None]:
    """Inside, the writer is in the middle of a commit and does not come out of it."""
    begun, go_on = threading.Event(), threading.Event()
    commit = store._writer._commit_to_disk

    def dawdle() -> None:
        begun.set()
        go_on.wait()
        commit()

    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(store._writer, "_commit_to_disk", dawdle)
        dawdling = asyncio.ensure_future(store._writer.submit(PendingWrite((), lambda db: None)))
        await asyncio.to_thread(begun.wait)
    yield
    go_on.set()
    await dawdling


async def test_an_idle_writer_commits_at_once(tmp_path, monkeypatch) -> None:
    """One caller after the other: one commit each, nobody waits for company."""
    async with watched(tmp_path, monkeypatch) as (store, groups):
        for number in range(5):
            await store.write(accept(number))
        assert groups == [1] * 5


async def test_a_message_costs_three_commits_before_its_send(tmp_path, monkeypatch) -> None:
    """Accepted; routed with its turn begun; planned with its first part under way."""
    async with watched(tmp_path, monkeypatch) as (store, groups):
        (event,) = await store.write(accept(1))
        begin = BeginTurn("s", HERE, (event.id,), NOW)
        _, run = await store.write(RouteEvent(event.id, (Destination("s"),)), begin)
        plan = PlanParts((an_intent(1),), NOW, run, final=True)
        _, part = await store.write(plan, ClaimPart(HERE, NOW))
        assert part.state == "sending"
        assert len(groups) == 3


async def test_who_is_awake_shares_the_commit(tmp_path, monkeypatch) -> None:
    """Those who ask in the same turn of the loop, and what is decided about an event that is not yet safe."""
    async with watched(tmp_path, monkeypatch) as (store, groups):
        deciding: list[asyncio.Future[Any]] = []

        def decide(events: tuple[InboxEvent, ...]) -> None:
            assert groups == []
            deciding.extend(asyncio.ensure_future(store.write(SettleEvent(event.id, "seen"))) for event in events)

        others = [asyncio.ensure_future(store.write(accept(number))) for number in range(3)]
        await store.write(accept(*range(3, 6)), on_result=decide)
        await asyncio.gather(*others, *deciding)
        assert groups == [6]


async def test_a_number_is_never_given_to_two(tmp_path, monkeypatch) -> None:
    """Of an event that could not be kept nothing is left, not even its number: who was told of it early errs alone."""
    store = open_store(f"sqlite:{tmp_path / 'rejoinder.db'}")
    told: list[int] = []

    def fail() -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    def remember(events: tuple[InboxEvent, ...]) -> None:
        told.extend(event.id for event in events)

    with monkeypatch.context() as broken:
        broken.setattr(store._writer, "_commit_to_disk", fail)
        with pytest.raises(StoreUnavailable):
            await store.write(accept(1), on_result=remember)
    await store.write(accept(2), on_result=remember)
    await store.write(accept(1), on_result=remember)
    assert len(set(told)) == len(told) == 3
    await store.close()


async def test_what_is_done_again_has_the_same_answers(tmp_path) -> None:
    """One that loses its fence is taken back with its group, which is done again, but for it."""
    store = open_store(f"sqlite:{tmp_path / 'rejoinder.db'}")
    told: list[tuple[InboxEvent, ...]] = []
    first = asyncio.ensure_future(store.write(accept(1, 2), on_result=told.append))
    lost = asyncio.ensure_future(store.write(accept(3), SettleEvent(999, "there is no such event")))
    last = asyncio.ensure_future(store.write(accept(4), on_result=told.append))
    with pytest.raises(Superseded):
        await lost
    assert [await first, await last] == told
    kept = (await store.recover(NOW)).events
    assert [event.id for event in kept] == [event.id for events in told for event in events]
    await store.close()


async def test_in_memory_a_group_is_committed_when_it_is_full_or_somebody_reads() -> None:
    """Nobody waits for it; and who loses a fence long after takes nothing of the others along."""
    store = open_store("sqlite::memory:")
    writer = store._writer
    (event,) = await store.write(accept(0))
    await store.write(SettleEvent(event.id, "dropped"))
    with pytest.raises(Superseded):
        await store.write(SettleEvent(event.id, "once more"))
    assert len(writer._group) == 3
    (again,) = await store.events_of(event.inbound.message_id)
    assert (again.id, again.reason, writer._group) == (event.id, "dropped", [])
    for number in range(1, GROUP + 2):
        await store.write(accept(number))
    assert len(writer._group) == 1
    await store.close()


async def test_what_comes_meanwhile_is_the_next_group(tmp_path, monkeypatch) -> None:
    """However many come while the writer is busy: one commit, and nobody is told before it."""
    async with watched(tmp_path, monkeypatch) as (store, groups):
        async with busy(store):
            writes = [asyncio.ensure_future(store.write(accept(number))) for number in range(64)]
            await asyncio.sleep(0)
            assert not any(write.done() for write in writes)
        await asyncio.gather(*writes)
        assert groups == [0, 64]


async def test_a_group_has_an_end(tmp_path, monkeypatch) -> None:
    """At most 200 rows in a commit, in order; a larger write is not cut, and goes alone."""
    async with watched(tmp_path, monkeypatch) as (store, groups):
        async with busy(store):
            writes = [asyncio.ensure_future(store.write(accept(number))) for number in range(2 * GROUP + 50)]
            await asyncio.sleep(0)
        await asyncio.gather(*writes)
        assert groups == [0, GROUP, GROUP, 50]
        async with busy(store):
            sizes = (GROUP - 1, 3 * GROUP, 2, GROUP - 2, 1)
            batches = (range(1000 * n, 1000 * n + size) for n, size in enumerate(sizes, 1))
            writes = [asyncio.ensure_future(store.write(accept(*batch))) for batch in batches]
            await asyncio.sleep(0)
        await asyncio.gather(*writes)
        assert groups[4:] == [0, GROUP - 1, 3 * GROUP, GROUP, 1]


async def test_who_no_longer_waits_does_no_harm(tmp_path) -> None:
    """A cancelled caller's write is made or not; the others are answered."""
    store = open_store(f"sqlite:{tmp_path / 'rejoinder.db'}")
    async with busy(store):
        gone, here = (asyncio.ensure_future(store.write(accept(number))) for number in (1, 2))
        await asyncio.sleep(0)
        gone.cancel()
    assert len(await here) == 1
    with pytest.raises(asyncio.CancelledError):
        await gone
    await store.close()


async def test_a_bug_reaches_its_caller_alone(tmp_path) -> None:
    """What is no fault of the store is raised where it was asked for; the group and the writer go on."""
    store = open_store(f"sqlite:{tmp_path / 'rejoinder.db'}")

    def stumble(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO run VALUES ('s', 999, 1)")
        db.execute("INSERT INTO run VALUES ('s', 999, 1)")

    async with busy(store):
        bad = asyncio.ensure_future(store._writer.submit(PendingWrite((), stumble)))
        good = asyncio.ensure_future(store.write(accept(1)))
        await asyncio.sleep(0)
    with pytest.raises(sqlite3.IntegrityError):
        await bad
    assert len(await good) == 1
    assert (await store.count_rows()).runs == 0
    await store.close()


async def test_a_closed_store_says_so(tmp_path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'rejoinder.db'}")
    written = asyncio.ensure_future(store.write(accept(1)))
    await asyncio.sleep(0)
    await store.close()
    assert len(await written) == 1, "what was asked for before is done"
    with pytest.raises(StoreUnavailable, match="It has been closed"):
        await store.write(accept(2))
    await store.close()


async def test_every_commit_is_on_the_disk(tmp_path) -> None:
    """DU-10: write-ahead log, full synchronisation, constraints of foreign keys; the writer's own connection."""
    store = open_store(f"sqlite:{tmp_path / 'rejoinder.db'}")

    def settings(db: sqlite3.Connection) -> list[object]:
        return [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "foreign_keys")]

    assert await store._writer.submit(PendingWrite((), settings)) == ["wal", 2, 1]
    await store.close()
