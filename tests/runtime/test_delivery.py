"""Delivery to a channel that can do nothing but send: the smallest one."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from rejoinder.app import MEMORY, open_store
from rejoinder.channels.base import Delivered, Limits, RetryAfter
from rejoinder.events import Part, Route
from rejoinder.runtime.conversations import Conversation
from rejoinder.runtime.delivery import Answer
from rejoinder.store.base import Message, NoteMessages

ROUTE = Route("bare", "room")


class Bare:
    name = "bare"
    limits = Limits()

    def __init__(self):
        self.sent: list[Part] = []
        self.outcome = None

    async def listen(self, deliver): ...

    async def send(self, part):
        self.sent.append(part)
        return self.outcome or Delivered(f"id-{len(self.sent)}")


@pytest.fixture
def bare():
    return Bare()


@asynccontextmanager
async def conversing(channel):
    store = open_store(MEMORY)
    try:
        yield Conversation(channel, ROUTE, store)
    finally:
        await store.close()


async def deliver(channel, *pieces):
    async with conversing(channel) as conversation:
        hello = Message("id-0", "ann", datetime(2030, 1, 1, tzinfo=UTC), text="hello")
        conversation.noted(await conversation.store.write(NoteMessages(ROUTE, (hello,))))
        answer = Answer(conversation, "bot", "id-0")
        for piece in pieces:
            await answer.feed(piece)
        await answer.finish()
    return conversation


async def test_one_message_when_it_is_whole(bare):
    await deliver(bare, "[[reply", "_to:m1]]\n", "One, ", "two.")
    assert bare.sent == [Part(ROUTE, "One, two.", reply_to="id-0")]


async def test_no_notification_when_the_agent_asks_for_none(bare):
    await deliver(bare, "[[silent]]\nPsst.")
    assert bare.sent == [Part(ROUTE, "Psst.", silent=True)]


async def test_the_last_of_several_targets_counts_and_none_means_none(bare):
    """OD-17: the last valid value wins; `none` is no reference."""
    await deliver(bare, "[[reply_to:m1]]\n[[reply_to:none]]\nHi.")
    assert bare.sent == [Part(ROUTE, "Hi.")]


async def test_a_reaction_it_cannot_show_is_skipped(bare, caplog):
    """OD-72: a channel that cannot react skips it with a warning, and the text goes out."""
    await deliver(bare, "<actions><react emoji='eyes'/></actions>\nHi.")
    assert [part.text for part in bare.sent] == ["Hi."]
    assert "react was left out: bare cannot show reactions" in caplog.text


@pytest.mark.parametrize(
    "action",
    [
        '<send-file path="a.txt"/>',
        '<send-message chat="C1">x</send-message>',
        "<voice>x</voice>",
        '<handoff to="other">x</handoff>',
    ],
)
async def test_what_needs_a_grant_is_denied_without_a_message(bare, caplog, action):
    """OD-52: default none. OD-51: it never becomes an error message in the chat."""
    await deliver(bare, f"<actions>{action}</actions>")
    assert bare.sent == []
    assert "was denied: nothing grants it here" in caplog.text


async def test_silence_sends_nothing(bare):
    await deliver(bare, "Well.", "\nNO_REPLY")
    assert bare.sent == []


async def test_what_the_platform_did_not_take_is_no_message_of_the_chat(bare, caplog):
    bare.outcome = RetryAfter(3, "busy")
    conversation = await deliver(bare, "Hi.")
    assert conversation.messages.find("m2") is None
    assert "bare did not take a message: busy" in caplog.text


async def test_messages_of_one_conversation_go_out_one_after_the_other(bare):
    """One sender per conversation: while the platform takes its time, the next message waits."""
    going, most = 0, 0

    class Slow(Bare):
        async def send(self, part):
            nonlocal going, most
            going += 1
            most = max(most, going)
            await asyncio.sleep(0)
            going -= 1
            return await super().send(part)

    slow = Slow()
    async with conversing(slow) as conversation:
        await asyncio.gather(*(conversation.send(text) for text in "abc"))
    assert most == 1
    assert [part.text for part in slow.sent] == ["a", "b", "c"]
