"""A session whose chats are in different shards: one was written to before anybody spoke there, and stays where it was
(SC-1). Each shard has an engine of its own, and only the store knows that a turn of the session is under way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from rejoinder.app import Gateway, with_channel
from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.events import Route
from rejoinder.runtime.session import journal
from rejoinder.runtime.tasks import Tasks
from rejoinder.session import SessionSettings, route_home, shard_of, with_event
from rejoinder.store.base import IndexedMessage, NoteMessages, PutSession, Store
from rejoinder.store.sqlite import open_store
from rejoinder.testing import Chat, FakeChannel, ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.store_contract.given import NOW
from tests.conversations.agents import said

SHARDS = 4
SHARED = Settings(
    session=SessionSettings(scope="shared"), messages=MessagesSettings(queue=QueueSection(mode="queue", debounce_ms=0))
)
ELSEWHERE = next(
    chat
    for chat in (f"chat-{number}" for number in range(100))
    if shard_of(route_home(Route("fake", chat)), SHARDS) != shard_of("main", SHARDS)
)


@asynccontextmanager
async def two_homes(agent: ScriptedAgent) -> AsyncIterator[Chat]:
    """`ELSEWHERE` was told something first; both chats share one session."""
    store, channel = open_store("sqlite::memory:", shards=SHARDS), FakeChannel()
    await store.write(NoteMessages(Route("fake", ELSEWHERE), (IndexedMessage("m0", agent.name, NOW, "own"),)))
    settings = with_channel(SHARED, channel.name, agent.name, ("ann",))
    async with (
        asyncio.timeout(PATIENCE),
        Gateway(settings, agents={agent.name: agent}, channels=[channel], store=store) as gateway,
        Tasks() as tasks,
    ):
        tasks.start("gateway", gateway.serve())
        chat = Chat(channel, tasks, gateway)
        yield chat
        await chat.ends()


async def rains(store: Store, session: str) -> None:
    """Something for the next turn to tell."""
    kept = await store.session(session)
    assert kept is not None
    await store.write(PutSession(with_event(kept.session, "It rains."), kept.version))


@pytest.mark.parametrize("first", [ELSEWHERE, "home"])
async def test_its_turns_wait_for_each_other(first, monkeypatch, caplog):
    """TU-1: the second begins when the first has ended, and is told the same as if nobody had asked in vain."""
    monkeypatch.setattr(journal, "BUSY_PAUSE", 0.01)
    second = "home" if first == ELSEWHERE else ELSEWHERE
    go_on = asyncio.Event()
    agent = ScriptedAgent([go_on.wait, "One."], "Two.")
    async with two_homes(agent) as chat:
        await chat.says("first", sender="ann", chat=first)
        await chat.asked(agent, 1)
        await rains(chat.gateway.store, f"{agent.name}:main")
        await chat.says("second", sender="bob", chat=second)
        await until(lambda: "a turn waits until turn" in caplog.text, "the second to be refused")
        assert len(agent.turns) == 1
        go_on.set()
        await chat.hears("One.")
        await chat.hears("Two.")
    assert [said(turn) for turn in agent.turns] == [["first"], ["second"]]
    assert ["It rains." in str(turn) for turn in agent.turns] == [False, True]
