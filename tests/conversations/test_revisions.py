"""Edits and deletions by people, where an edit is no new message (CH-8)."""

import asyncio

import pytest
from msgspec.structs import replace

from rejoinder.config.schema import MessagesSettings, QueueSection
from rejoinder.testing import FakeThreads, ScriptedAgent, conversation
from tests.conversations.restarting import Machine, until
from tests.conversations.test_new_threads import LAB, lab
from tests.conversations.test_threads import texts


def one_by_one(**common):
    return replace(lab(**common), messages=MessagesSettings(queue=QueueSection(mode="queue")))


def told(turn) -> str:
    return "\n".join(part.text for part in turn.parts)


async def two_waiting(channel, chat, agent):
    """The first message is being worked on, the second waits."""
    await channel.says("@bot first", mention=True, **LAB)
    await chat.asked(agent, 1)
    return await channel.says("@bot second", mention=True, **LAB)


@pytest.mark.parametrize("restarted", [False, True])
async def test_an_edit_of_a_message_that_waits_changes_it(tmp_path, restarted):
    """CH-8: the agent gets the new words and no turn for the edit; so after a restart."""
    channel, goes_on = FakeThreads(threads="off"), asyncio.Event()
    machine = Machine(tmp_path, one_by_one(), channel)
    agent = ScriptedAgent([goes_on.wait, "One."], "Two.")
    async with machine.running(agent, killed=restarted) as gateway:
        second = await two_waiting(channel, machine.chat, agent)
        await channel.edits(second, "@bot the second, better")
        await until(gateway, lambda census: census.events.get("settled") == 1)
        if not restarted:
            goes_on.set()
            await machine.chat.hears("One.")
            await machine.chat.hears("Two.")
    if restarted:
        agent = ScriptedAgent("One.", "Two.")
        async with machine.running(agent):
            await machine.chat.hears("One.")
            await machine.chat.hears("Two.")
    assert len(agent.turns) == 2
    assert "the second, better" in told(agent.turns[1])
    assert "@bot second" not in told(agent.turns[1])


async def test_a_deleted_message_that_waits_is_dropped():
    """CH-8: it gets no turn; what comes after it does."""
    channel, goes_on = FakeThreads(threads="off"), asyncio.Event()
    agent = ScriptedAgent([goes_on.wait, "One."], "Three.")
    async with conversation(agent, channel, one_by_one()) as chat:
        second = await two_waiting(channel, chat, agent)
        await channel.says("@bot third", mention=True, **LAB)
        await channel.removes(second)
        await until(chat.gateway, lambda census: census.inputs.get("dropped") == 1)
        goes_on.set()
        await chat.hears("One.")
        await chat.hears("Three.")
    assert "third" in told(agent.turns[1])
    assert "second" not in told(agent.turns[1])


async def test_an_edit_of_one_answered_is_told_with_the_next_turn():
    """CH-8: it fires no turn, and is told once, in the session that was told the message."""
    channel = FakeThreads()
    agent = ScriptedAgent("One.", "Two.", "Three.")
    async with conversation(agent, channel, lab()) as chat:
        asked = await channel.says("@bot one", mention=True, **LAB)
        await chat.hears("One.")
        await chat.rests()
        await channel.edits(asked, "@bot one, I mean two")
        await chat.rests()
        assert len(agent.turns) == 1
        for text, answer in (("and?", "Two."), ("so?", "Three.")):
            await channel.says(text, thread=asked, **LAB)
            await chat.hears(answer)
    assert "it now says: @bot one, I mean two" in told(agent.turns[1])
    assert "it now says" not in told(agent.turns[2])


async def test_what_was_overheard_is_told_as_it_is_now():
    """CH-8, IN-32: with its new words, and not at all if it was deleted."""
    channel = FakeThreads(threads="off")
    agent = ScriptedAgent("Yes.")
    async with conversation(agent, channel, lab()) as chat:
        kept = await channel.says("it is at noon", **LAB)
        gone = await channel.says("my number is 12345", **LAB)
        await channel.edits(kept, "it is at one")
        await channel.removes(gone)
        await channel.says("@bot when?", mention=True, **LAB)
        await chat.hears("Yes.")
    assert texts(agent.turns[0]) == [("it is at one", "ann", kept)]
