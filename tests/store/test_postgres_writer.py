"""SC-21: what waits together goes to the server together, and nobody notices."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from rejoinder.errors import LeaseLost, StoreUnavailable, Superseded
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.store.base import Accept, Destination, InboxEvent, RouteEvent, SettleEvent, StoredCursor
from rejoinder.store.postgresql import PostgresStore, open_store
from rejoinder.store.postgresql.wire import Wire
from rejoinder.store.postgresql.writer import PendingWrite
from rejoinder.testing.store_contract.given import NOW, an_inbound
from tests.postgres import Server, an_emptied_database, database_of


@pytest.fixture
def url(postgres: Server) -> str:
    return an_emptied_database(postgres, "shards")


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    opened = open_store(url)
    yield opened
    await opened.close()


class Trips:
    """Counts round trips, and the statements they carry."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count, self.sent = 0, list[str]()
        round_trip, send = Wire.round_trip, Wire.send

        def counted(wire: Wire) -> Any:
            self.count += 1
            return round_trip(wire)

        def noted(wire: Wire, sql: str, *rest: Any) -> Any:
            self.sent.append(sql)
            return send(wire, sql, *rest)

        monkeypatch.setattr(Wire, "round_trip", counted)
        monkeypatch.setattr(Wire, "send", noted)


def from_chat(number: int, chat: str) -> Inbound:
    return Inbound("test", f"{chat}-{number}", f"{chat}-{number}", Chat(chat), Sender("ann", "Ann"), "hello")


async def accepted(store: PostgresStore, *events: Inbound) -> tuple[InboxEvent, ...]:
    return await store.write(Accept(events, NOW))


async def test_many_units_take_few_round_trips(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-21: forty messages of forty chats that come together cost one commit."""
    await accepted(store, *(from_chat(0, f"chat {chat}") for chat in range(40)))
    trips = Trips(monkeypatch)
    found = await asyncio.gather(*(accepted(store, from_chat(1, f"chat {chat}")) for chat in range(40)))
    assert [len(each) for each in found] == [1] * 40
    assert trips.sent.count("COMMIT") <= 2
    assert trips.count <= 6
    numbers = [event.id for (event,) in found]
    assert numbers == sorted(set(numbers))


async def test_units_of_many_shards_are_fenced_together(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-3, SC-21: two statements, however many leases a group was written with."""
    events = await accepted(store, *(from_chat(0, f"chat {chat}") for chat in range(20)))
    leases = {event.shard: await store.claim(event.shard, "me") for event in events}
    trips = Trips(monkeypatch)

    async def settle(event: InboxEvent) -> None:
        lease = leases[event.shard]
        assert lease is not None
        await store.owned(lease).write(SettleEvent(event.id, "seen"))

    await asyncio.gather(*map(settle, events))
    assert len(leases) > 10
    commits = trips.sent.count("COMMIT")
    assert commits <= 2
    assert trips.count == commits, "none is done again carefully"
    assert sum("shard" in each for each in trips.sent) == 2 * commits


async def test_of_shards_side_by_side_each_keeps_its_order(store: PostgresStore) -> None:
    leases = [await store.claim(shard, "me") for shard in range(store.shards)]
    events = await accepted(store, *(from_chat(number, f"chat {number % 7}") for number in range(40)))

    async def decide(event: InboxEvent) -> None:
        lease = leases[event.shard]
        assert lease is not None
        owned = store.owned(lease)
        await owned.write(RouteEvent(event.id, (Destination(f"session {event.inbound.chat.id}"),)))

    await asyncio.gather(*map(decide, events))
    for chat in range(7):
        waiting = [each.event.id for each in await store.waiting_inputs(f"session chat {chat}")]
        assert waiting == [event.id for event in events if event.inbound.chat.id == f"chat {chat}"]


async def test_who_lost_a_fence_stands_alone(store: PostgresStore) -> None:
    """Of a group one is refused and one is known already: the others are written, and all are told their own."""
    first, second, third = await accepted(store, an_inbound(1), an_inbound(2), an_inbound(3))
    await store.write(SettleEvent(first.id, "seen before"))
    results = await asyncio.gather(
        store.write(SettleEvent(second.id, "this one")),
        store.write(SettleEvent(first.id, "too late")),
        accepted(store, an_inbound(1), an_inbound(4)),
        store.write(SettleEvent(third.id, "and this one")),
        accepted(store, an_inbound(5)),
        return_exceptions=True,
    )
    assert isinstance(results[1], Superseded)
    assert [isinstance(each, BaseException) for each in results] == [False, True, False, False, False]
    assert [event.inbound.event_id for event in results[2]] == [an_inbound(4).event_id]
    reasons = [event.reason for event in [*await store.events_of("1"), *await store.events_of("2")]]
    assert reasons == ["seen before", "this one"]


async def many_of_which_one_is_refused(store: PostgresStore, *, steals: bool) -> list[Any]:
    """Twenty writes that wait together. One has to do with an event that is settled, or was written with a lease that
    somebody else has meanwhile."""
    events = await accepted(store, *(from_chat(0, f"chat {chat}") for chat in range(20)))
    leases = {event.shard: await store.claim(event.shard, "me") for event in events}

    def settle(event: InboxEvent) -> Any:
        lease = leases[event.shard]
        assert lease is not None
        return store.owned(lease).write(SettleEvent(event.id, "seen"))

    if steals:
        await store.claim(events[0].shard, "me")
    else:
        await settle(events[0])
    return [settle(event) for event in events if event is events[0] or event.shard != events[0].shard]


@pytest.mark.parametrize("steals", [False, True])
async def test_for_one_that_is_refused_the_others_are_not_done_one_by_one(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, steals: bool
) -> None:
    """SC-21."""
    writes = await many_of_which_one_is_refused(store, steals=steals)
    trips = Trips(monkeypatch)
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(each) for each in results] == [LeaseLost if steals else Superseded] + [type(None)] * (len(writes) - 1)
    assert trips.count <= 20


@pytest.mark.parametrize(("reason", "error"), [(uuid4(), TypeError), ("half a \ud83d", UnicodeEncodeError)])
async def test_what_cannot_be_stored_fails_alone(store: PostgresStore, reason: Any, error: type[Exception]) -> None:
    (event,) = await accepted(store, an_inbound(1))
    results = await asyncio.gather(
        store.write(SettleEvent(event.id, reason)), accepted(store, an_inbound(2)), return_exceptions=True
    )
    assert [type(each) for each in results] == [error, tuple]
    assert len(await accepted(store, an_inbound(3))) == 1


async def test_what_is_written_is_let_go(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fibers in which it was carried out wait for the next ones."""
    writes: list[weakref.ref[PendingWrite]] = []

    class Watched(PendingWrite):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            writes.append(weakref.ref(self))

    monkeypatch.setattr("rejoinder.store.postgresql.writer.PendingWrite", Watched)
    await asyncio.gather(*(accepted(store, from_chat(0, f"chat {chat}")) for chat in range(20)))
    await accepted(store, an_inbound(1))
    gc.collect()
    assert sum(each() is not None for each in writes) <= 1, "the last one may be in hand"


async def test_the_last_cursor_is_the_one_that_stands(store: PostgresStore) -> None:
    """DU-1: also when an earlier message has to make its place first."""

    async def accept(number: int, *events: Inbound) -> None:
        await store.write(Accept(events, NOW, cursor=StoredCursor("test", "offset", str(number))))

    await asyncio.gather(
        accept(1, *(from_chat(number, f"new chat {number}") for number in range(5))),
        accept(2, from_chat(9, "new chat 9")),
        accept(3),
    )
    assert await store.cursor("test", "offset") == "3"


async def test_a_lease_that_was_lost_writes_nothing(store: PostgresStore) -> None:
    """SC-3: nothing of the one that lost it, everything of those beside it."""
    (event,) = await accepted(store, an_inbound(1))
    old = await store.claim(event.shard, "me")
    new = await store.claim(event.shard, "me")
    assert old is not None
    assert new is not None
    results = await asyncio.gather(
        store.owned(old).write(SettleEvent(event.id, "of the old one")),
        store.owned(new).write(SettleEvent(event.id, "of the new one")),
        accepted(store, an_inbound(2)),
        return_exceptions=True,
    )
    assert isinstance(results[0], LeaseLost)
    assert not isinstance(results[1], BaseException)
    assert (await store.events_of("1"))[0].reason == "of the new one"


async def test_a_connection_that_ended_unnoticed_is_made_again(
    postgres: Server, url: str, store: PostgresStore
) -> None:
    """SC-22: nobody is told of a fault when the next connection is good."""
    await accepted(store, an_inbound(1))
    await store.admission("test", "default")
    postgres.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        database_of(url),
    )
    assert len(await accepted(store, an_inbound(2))) == 1
    assert len(await store.undecided_events()) == 2
    assert (await store.health()).fault is None


async def test_closing_commits_what_was_asked_for(postgres: Server) -> None:
    url = an_emptied_database(postgres, "shards")
    store = open_store(url)
    asked = [asyncio.ensure_future(accepted(store, an_inbound(number))) for number in range(3)]
    await asyncio.sleep(0)
    await store.close()
    assert [len(await each) for each in asked] == [1, 1, 1]
    with pytest.raises(StoreUnavailable):
        await accepted(store, an_inbound(9))
