"""A chat in another shard than the session it uses, and a process that dies with one of the two shards (SC-1, SC-4)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest.mock import patch

from rejoinder.app import with_channel
from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.events import Route
from rejoinder.session import SessionSettings, route_home, shard_of
from rejoinder.store.base import IndexedMessage, NoteMessages
from rejoinder.testing.store_contract.given import NOW
from tests.runtime.ownership.test_moving_shards import (
    CHATS,
    LEASE,
    SHARDS,
    Finds,
    MovingShards,
    Platform,
    Process,
    World,
    ripple,
    search,
)

SESSION = shard_of("main", SHARDS)
CHAT = next(number for number in range(100) if shard_of(route_home(Route("fake", f"chat-{number}")), SHARDS) != SESSION)
"""It was written to before anybody spoke there, and stays where it was."""
PLACE = shard_of(route_home(Route("fake", f"chat-{CHAT}")), SHARDS)
SHARED = with_channel(
    Settings(
        session=SessionSettings(scope="shared"),
        messages=MessagesSettings(queue=QueueSection(mode="queue", debounce_ms=0)),
    ),
    "fake",
    "bot",
    (),
)


async def written_to(world: World, chat: int) -> None:
    route = Route("fake", f"chat-{chat}")
    await world.store.write(NoteMessages(route, (IndexedMessage("m0", "bot", NOW, "own"),)))


@asynccontextmanager
async def two_processes() -> AsyncIterator[tuple[World, Process, Process]]:
    """The first holds the shard of the chat, the second that of the session."""
    world = World()
    await written_to(world, CHAT)
    one, two = (Process(world, name, Finds, SHARED) for name in ("one", "two"))
    await one.open()
    await two.open()
    try:
        await one.claim(PLACE)
        await two.claim(SESSION)
        await ripple()
        yield world, one, two
    finally:
        world.agents_answer.set()
        world.seconds += 2 * LEASE
        for process in (one, two):
            await process.look()
            await process.gateway.__aexit__(None, None, None)


async def first_dies(world: World, two: Process) -> None:
    """It does nothing any more; the second renews its lease, and takes the shard of the chat too."""
    world.seconds += LEASE - 1
    await two.renew(is_told=True)
    world.seconds += 2
    await two.claim(PLACE)
    await ripple(200)


async def test_a_turn_is_answered_though_the_owner_of_its_chat_dies() -> None:
    """SC-4: once, by whoever owns the chat then; what was queued behind it and what comes later is answered, too."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        await one.says(CHAT)
        await one.says(CHAT)
        await ripple(200)
        assert (await world.store.workload()).runs == 1
        await first_dies(world, two)
        world.agents_answer.set()
        await ripple(200)
        assert world.said[f"chat-{CHAT}"] == ["re #1", "re #2"]
        await two.says(CHAT)
        await ripple(200)
        assert world.said[f"chat-{CHAT}"] == ["re #1", "re #2", "re #3"]
        assert (await world.store.workload()).runs == 0
        assert not world.foreign_calls
        assert set((await world.store.count_rows()).turns) == {"closed"}


async def test_a_turn_goes_on_when_the_shard_of_its_session_moves() -> None:
    """SC-3: its run belongs to the owner of its chat."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        await one.says(CHAT)
        await ripple(200)
        await two.gateway.engines.hand_over(SESSION, 0.0)
        await two.claim(SESSION)
        await ripple(200)
        world.agents_answer.set()
        await ripple(200)
        assert world.said[f"chat-{CHAT}"] == ["re #1"]
        (turn,) = [await world.store.turn(1)]
        assert turn is not None
        assert (turn.turn.state, turn.turn.attempts) == ("closed", 1)


class OneSession(MovingShards):
    """All chats share a session, and each is in a shard of its own."""

    configured = SHARED

    async def _open(self, platform: type[Platform]) -> None:
        self.stack.enter_context(patch("rejoinder.runtime.session.journal.BUSY_PAUSE", 0.001))
        for number in range(CHATS):
            await written_to(self.world, number)
        await super()._open(platform)


def test_each_message_gets_one_answer_in_a_session_of_many_homes() -> None:
    """SC-1, SC-4: wherever its chats and the session move, nothing of it is stuck, lost or said twice."""
    search(OneSession, 10)
