"""People in different places who share one session."""

import asyncio

import pytest

from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.place.facts import FactGatherer
from rejoinder.session import SessionSettings
from rejoinder.testing import ScriptedAgent, conversation
from tests.conversations.agents import said

SHARED = Settings(session=SessionSettings(scope="shared"), messages=MessagesSettings(queue=QueueSection(mode="queue")))


@pytest.fixture
def ann_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of her chat is not there before Bob's message could be decided."""
    bob_is_ready = asyncio.Event()
    facts, opened = FactGatherer.facts, Conversation.open

    async def open_late(self, now):
        if self.route.chat == "ann":
            await bob_is_ready.wait()
        await opened(self, now)

    async def facts_told(self, inbound, *args, **more):
        found = await facts(self, inbound, *args, **more)
        if inbound.chat.id == "bob":
            bob_is_ready.set()
        return found

    monkeypatch.setattr(Conversation, "open", open_late)
    monkeypatch.setattr(FactGatherer, "facts", facts_told)


@pytest.mark.usefixtures("ann_takes_longer")
async def test_a_shared_session_hears_people_in_the_order_in_which_they_wrote():
    """TU-1, IN-40, IN-76: one session, one order, whosever chat takes longer to decide."""
    agent = ScriptedAgent("One.", "Two.")
    async with conversation(agent, settings=SHARED) as chat:
        await chat.says("first", sender="ann", chat="ann")
        await chat.says("second", sender="bob", chat="bob")
        assert [(await chat.hears()).text for _ in range(2)] == ["One.", "Two."]
    assert [said(turn) for turn in agent.turns] == [["first"], ["second"]]


async def test_an_answer_goes_where_its_question_was_asked():
    """IN-44: wherever somebody else has written into the session meanwhile."""
    bob_has_written = asyncio.Event()
    agent = ScriptedAgent([bob_has_written.wait, "One."], "Two.")
    async with conversation(agent, settings=SHARED) as chat:
        await chat.says("first", sender="ann", chat="ann")
        await chat.asked(agent, 1)
        await chat.says("second", sender="bob", chat="bob")
        bob_has_written.set()
        await chat.hears("One.")
        await chat.hears("Two.")
    assert [(part.route.chat, part.text) for part in chat.channel.parts] == [("ann", "One."), ("bob", "Two.")]


async def test_who_says_stop_does_not_wait_for_another_chat(monkeypatch: pytest.MonkeyPatch):
    """IN-70: it is checked before session work, also of a session that somebody else is entering."""
    go = asyncio.Event()
    opened = Conversation.open

    async def open_late(self, now):
        if self.route.chat == "ann":
            await go.wait()
        await opened(self, now)

    monkeypatch.setattr(Conversation, "open", open_late)
    async with conversation(ScriptedAgent("One."), settings=SHARED, owners=("ann", "bob")) as chat:
        await chat.says("first", sender="ann", chat="ann")
        await chat.says("/stop", sender="bob", chat="bob")
        await chat.hears()
        go.set()
        await chat.hears("One.")


async def test_a_message_that_cannot_be_decided_holds_up_nobody_of_its_session(monkeypatch: pytest.MonkeyPatch):
    """TU-2: it ends as failed, and those behind it go on."""
    opened = Conversation.open

    async def open_never(self, now):
        if self.route.chat == "ann":
            raise RuntimeError("no")
        await opened(self, now)

    monkeypatch.setattr(Conversation, "open", open_never)
    async with conversation(ScriptedAgent("Two."), settings=SHARED) as chat:
        await chat.says("first", sender="ann", chat="ann")
        await chat.says("second", sender="bob", chat="bob")
        await chat.hears("Two.")
