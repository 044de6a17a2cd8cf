"""A session that has a run already, of which only the store knows: the engine that began it has yet to notice that it
lost its shard."""

import asyncio

from rejoinder.app import Gateway, with_channel
from rejoinder.config.schema import Settings
from rejoinder.events import Route
from rejoinder.runtime.session import journal
from rejoinder.runtime.tasks import Tasks
from rejoinder.session import with_event
from rejoinder.store.base import BeginTurn, EndRun, PutSession, RunClaim, Store
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing import Chat, FakeChannel, ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.store_contract.given import NOW
from tests.conversations.agents import said


async def rains(store: Store, session: str) -> None:
    """Something for the next turn to tell."""
    kept = await store.session(session)
    assert kept is not None
    await store.write(PutSession(with_event(kept.session, "It rains."), kept.version))


async def test_a_turn_waits_until_the_session_is_free(monkeypatch, caplog):
    """TU-1: it begins when the other has ended, and is told the same as if nobody had asked in vain."""
    monkeypatch.setattr(journal, "BUSY_PAUSE", 0.01)
    agent, channel = ScriptedAgent("Zero.", "One."), FakeChannel()
    store = open_store("sqlite::memory:")
    settings = with_channel(Settings(), channel.name, agent.name, ("ann",))
    async with (
        asyncio.timeout(PATIENCE),
        Gateway(settings, agents={agent.name: agent}, channels=[channel], store=store) as gateway,
        Tasks() as tasks,
    ):
        tasks.start("gateway", gateway.serve())
        chat = Chat(channel, tasks, gateway)
        await chat.says("zeroth", sender="ann")
        await chat.hears("Zero.")
        (session,) = [each.session.key for each in await store.sessions()]
        await until(lambda: gateway.engine.lanes.get(session) is None, "the first turn to end")
        other = await store.write(BeginTurn(session, Route("fake", "chat"), (), NOW))
        assert isinstance(other, RunClaim)
        await rains(store, session)
        await chat.says("first", sender="ann")
        await until(lambda: "a turn waits until turn" in caplog.text, "the turn to be refused")
        assert len(agent.turns) == 1
        await store.write(EndRun(other, "stopped", NOW))
        await chat.hears("One.")
        await chat.ends()
    assert [said(turn) for turn in agent.turns] == [["zeroth"], ["first"]]
    assert ["It rains." in str(turn) for turn in agent.turns] == [False, True]
