"""A chat in another shard than the session it uses, and a process that dies with one of the two shards (SC-1, SC-4)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest.mock import patch

import pytest

from rejoinder.app import with_channel
from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.events import Chat, Inbound, Route, Sender
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
AT_HOME = next(
    number for number in range(100) if shard_of(route_home(Route("fake", f"chat-{number}")), SHARDS) == SESSION
)
"""A chat in the shard of the session."""
PLACE = shard_of(route_home(Route("fake", f"chat-{CHAT}")), SHARDS)
SHARED = with_channel(
    Settings(
        session=SessionSettings(scope="shared"),
        messages=MessagesSettings(queue=QueueSection(mode="queue", debounce_ms=0)),
    ),
    "fake",
    "bot",
    (f"chat-{CHAT}",),
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
    """It does nothing any more, and its lease runs out; the second renews its own."""
    for _ in range(2):
        world.seconds += LEASE / 2 + 0.5
        await two.renew(is_told=True)


async def test_a_turn_is_answered_though_the_owner_of_its_chat_dies() -> None:
    """SC-4: once, by whoever owns the chat then; what was queued behind it and what comes later is answered, too."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        await one.says(CHAT)
        await one.says(CHAT)
        await ripple(200)
        assert (await world.store.workload()).runs == 1
        await first_dies(world, two)
        await two.claim(PLACE)
        await ripple(200)
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


@pytest.mark.parametrize("is_answered", [False, True], ids=["stopped", "answered"])
async def test_a_turn_that_is_over_is_closed_while_its_session_is_busy(is_answered: bool) -> None:
    """TU-20: one that somebody stopped before it could run again, and one whose answer was planned."""
    async with two_processes() as (world, one, two):
        held_back = world.platform_answers if is_answered else world.agents_answer
        held_back.clear()
        await one.says(CHAT)
        await ripple(200)
        world.agents_answer.clear()
        await first_dies(world, two)
        engine = await two.gateway.engines.claim(PLACE)
        assert engine is not None
        await two.says(AT_HOME)
        await ripple(200)
        assert await states(world) == [("answered" if is_answered else "open"), "open"]
        two.gateway.engines.start_recovery(engine)
        await ripple(200)
        if not is_answered:
            assert await states(world) == ["open", "open"]  # it waits until the session is free
            await two.gateway.dispatch(
                Inbound("fake", "stop", "stop", Chat(f"chat-{CHAT}", "direct"), Sender(f"chat-{CHAT}"), "/stop")
            )
            await ripple(200)
        assert await states(world) == ["closed", "open"]
        assert (await world.store.workload()).runs == 1
        world.agents_answer.set()
        world.platform_answers.set()
        await ripple(200)
        assert await states(world) == ["closed", "closed"]
        assert world.said[f"chat-{AT_HOME}"] == ["re #2"]
        assert "re #1" not in world.said[f"chat-{CHAT}"] or is_answered


async def states(world: World) -> list[str]:
    """Of both turns, in the order in which they began."""
    found = [await world.store.turn(number) for number in (1, 2)]
    return [each.turn.state for each in found if each is not None]


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
    search(OneSession, 30)
