"""Bad days on Discord: what people delete, edit and forbid while an answer is written, and what Discord limits."""

import asyncio
from datetime import UTC, datetime

import pytest

from rejoinder.agents.base import TextDelta
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Chat, Inbound, Mention, Sender
from rejoinder.store.base import Accept, Health
from rejoinder.store.sqlite.store import SqliteStore, open_store
from rejoinder.store.sqlite.writer import Writer
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.discord.world import user_id
from tests.conversations.discord import discord
from tests.conversations.test_discord import NO_THREADS

SYSTEM = (6, 7, 8, 18, 21, 46)
"""A pin, a join, a boost, a new thread, its start, the end of a poll."""


def texts(platform, chat="#team"):
    return [seen.text for seen in platform.truth.messages(chat)]


async def begun(platform, chat="#team"):
    """Returns when the first words of an answer are there."""
    await platform.truth.until(lambda: any(text.startswith("It is") for text in texts(platform, chat)))


def slow(*rest):
    """An agent that goes on when it is told to, and the event that tells it."""
    more = asyncio.Event()
    return ScriptedAgent([TextDelta("It is "), more.wait, TextDelta("done.")], *rest), more


async def test_a_deaf_connection_is_answered_after_it_was_replaced():
    """CH-7: heartbeats stop being acknowledged; the gateway connects again and catches up by itself."""
    async with discord(ScriptedAgent("One.", "Two."), heartbeat=1.0) as platform:
        await platform.says("ann", "ann", "one")
        await platform.hears("ann", "One.")
        platform.people.gateway.deafen()
        await platform.says("ann", "ann", "two")
        await platform.hears("ann", "Two.")


async def test_a_gateway_ends_while_its_disk_is_full(monkeypatch):
    """DU-15: where it stands in Discord's events cannot be kept; they come again, and are recognised."""
    async with discord(ScriptedAgent("One.")) as platform:
        await platform.says("ann", "ann", "one")
        await platform.hears("ann", "One.")
        intake = platform.gateway.listeners["discord"]._intake
        await until(lambda: intake._untold, "the echo of our own message, which needs no storing")

        async def full(*_, **__):
            raise StoreUnavailable("full", "rejoinder.db")

        async def no_room(*_):
            return Health("full", "the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(Writer, "write", full)
            patched.setattr(SqliteStore, "health", no_room)
            async with asyncio.timeout(PATIENCE / 2):
                await platform.gateway.drain(0)


@pytest.mark.parametrize("more", [NO_THREADS, 'threads = "auto"'], ids=["in the channel", "in a thread"])
async def test_a_question_that_is_deleted_while_it_is_answered(more):
    """CH-21, CH-24: what is written is said once, as a reply to nothing, and the next question is answered."""
    gate = asyncio.Event()
    agent = ScriptedAgent([gate.wait, TextDelta("[[reply_to:current]]\nIt is done.")], "Gladly.")
    async with discord(agent, more) as platform:
        question = await platform.says("#team", "ann", "@testbot do it")
        await platform.truth.until(lambda: bool(agent.turns))
        await platform.people.deletes("#team", "ann", question)
        gate.set()
        answer = await platform.hears("#team", "It is done.")
        assert answer.reply_to is None
        await platform.says("#team", "ann", "@testbot and now?")
        await platform.hears("#team", "Gladly.")
        assert texts(platform) == ["It is done.", "Gladly."]


async def test_a_question_that_is_edited_while_it_is_answered():
    """CH-8: it is answered once; the agent is told of the edit with its next turn."""
    agent, more = slow("I see.")
    async with discord(agent) as platform:
        question = await platform.says("ann", "ann", "buy tea")
        await begun(platform, "ann")
        await platform.edits("ann", "ann", question, "buy coffee")
        more.set()
        await platform.hears("ann", "It is done.")
        await platform.says("ann", "ann", "have you seen it?")
        await platform.hears("ann", "I see.")
    assert len(agent.turns) == 2
    assert "buy coffee" in str(agent.turns[1].parts)


async def test_a_thread_that_is_deleted_while_an_answer_is_written_in_it():
    """CH-13: the answer has nowhere to go; other places are served."""
    agent, more = slow("Gladly.")
    async with discord(agent) as platform:
        question = await platform.says("#team", "ann", "@testbot do it")
        await begun(platform)
        platform.people.deletes_thread(question)
        more.set()
        await platform.says("ann", "ann", "are you there?")
        await platform.hears("ann", "Gladly.")
        await platform.says("#team", "ann", "@testbot again")
        await platform.truth.until(lambda: len(agent.turns) == 3)


async def test_a_permission_that_is_taken_away_while_an_answer_is_written():
    """CH-13: it is told in words until the place is open again; then what is asked there is answered."""
    agent, more = slow("Gladly.", "Again.")
    async with discord(agent, NO_THREADS) as platform:
        await platform.says("#team", "ann", "@testbot do it")
        await begun(platform)
        platform.people.closes("#team", 50013)
        more.set()
        bot = platform.gateway.listeners["discord"]
        await platform.truth.until(lambda: any("403" in str(call.status) for call in platform.truth.calls))
        await platform.says("ann", "ann", "are you there?")
        await platform.hears("ann")
        await until(lambda: any("lacks a permission in #team" in each for each in bot.place_troubles))
        platform.people.closes("#team", 0)
        await platform.says("#team", "ann", "@testbot once more")
        await platform.truth.until(lambda: "Again." in texts(platform) or "Gladly." in texts(platform))
        await until(lambda: not bot.place_troubles)


async def test_a_bot_that_is_removed_from_the_server():
    """CH-13: a sentence with what to do; direct chats are served."""
    async with discord(ScriptedAgent("Gladly.")) as platform:
        await platform.says("#team", "bob", "hello")
        platform.people.removes_bot()
        await platform.says("ann", "ann", "are you there?")
        await platform.hears("ann", "Gladly.")
        (sentence,) = platform.gateway.listeners["discord"].place_troubles
        assert sentence.startswith("the bot was removed from the server Workshop: invite it again")


async def test_a_long_answer_with_code_and_emoji_is_cut_between_them():
    """DE-10, CH-27: no message is over Discord's 2000, each has its own whole fence, and no sign is lost."""
    code = "\n".join(f'print("{number} 👩‍👩‍👧‍👦")' for number in range(300))
    async with discord(ScriptedAgent(f"Look:\n\n```python\n{code}\n```\n\nThat was it 🎉.")) as platform:
        await platform.says("ann", "ann", "show me")
        await platform.truth.until(lambda: any(text.endswith("That was it 🎉.") for text in texts(platform, "ann")))
        shown = texts(platform, "ann")
        assert all(len(text.encode("utf-16-le")) // 2 <= 2000 and text.count("```") % 2 == 0 for text in shown)
        joined = "".join(text.replace("```python", "").replace("```", "") for text in shown)
        assert joined.count("👩‍👩‍👧‍👦") == 300


@pytest.mark.parametrize("whose", ["the bot's", "the address's"])
async def test_a_global_limit_is_waited_for(whose):
    """CH-6, CH-28, DE-32: everything is said once, and nothing is asked before the time is over."""
    async with discord(ScriptedAgent("One.", "Two.")) as platform:
        await platform.says("ann", "ann", "one")
        await platform.hears("ann", "One.")
        limits = platform.people.limits
        limits.stop("testbot", 1.0) if whose == "the bot's" else limits.shut_out(1.0)
        await platform.says("ann", "ann", "two")
        await platform.hears("ann", "Two.")
        assert any(call.status == 429 for call in platform.truth.calls)
        assert not oracles.too_early(platform.truth.calls)


async def test_notes_of_the_system_wake_nobody():
    """CH-25: pins, joins, boosts and threads, however they name the bot; nor does a webhook."""
    agent = ScriptedAgent("Gladly.")
    async with discord(agent, NO_THREADS) as platform:
        for type in SYSTEM:
            await platform.says("#team", "ann", "@testbot", type=type)
        await platform.says("#team", "ann", "@testbot hello", webhook_id="7", author={"id": "7", "username": "hook"})
        await platform.says("#team", "ann", "@testbot are you there?")
        await platform.hears("#team", "Gladly.")
    (turn,) = agent.turns
    assert "are you there?" in str(turn.parts)


async def test_what_has_no_words_is_told_in_words():
    """CH-27: a sticker, a poll and a forwarded message each ask something."""
    poll = {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "yes"}}, {"poll_media": {"text": "no"}}]}
    forwarded = {"message_snapshots": [{"message": {"content": "The milk is off.", "attachments": []}}]}
    forwarded |= {"message_reference": {"type": 1, "message_id": "5", "channel_id": "6"}}
    agent = ScriptedAgent("1", "2", "3")
    async with discord(agent) as platform:
        await platform.says("ann", "ann", "", sticker_items=[{"id": "1", "name": "Wave"}])
        await platform.hears("ann", "1")
        await platform.says("ann", "ann", "", poll=poll)
        await platform.hears("ann", "2")
        await platform.says("ann", "ann", "", **forwarded)
        await platform.hears("ann", "3")
    told = [str(turn.parts) for turn in agent.turns]
    assert "Wave" in told[0]
    assert "Tea? (yes / no)" in told[1]
    assert "The milk is off." in told[2]


async def test_a_mention_that_was_stored_and_not_decided_is_answered_by_the_next_process(tmp_path):
    """IN-20, DU-2: the next process decides it before it has logged in, and knows nevertheless who was mentioned."""
    me, url = user_id("testbot"), f"sqlite:{tmp_path / 'rejoinder.db'}"
    agent = ScriptedAgent("At your service.")
    async with FakePlatform("discord") as platform:
        chat = Chat(platform.id_of("#team"), "group")
        ann = Sender(platform.id_of("ann"), "ann", "Ann")
        who = {"mentions": (Mention(me, token=f"<@{me}>"),), "own_id": me, "own_name": "testbot"}
        store = open_store(url)
        said = Inbound("discord", "7", "7", chat, ann, f"<@{me}> are you there?", **who)
        await store.write(Accept((said,), datetime.now(UTC)))
        await store.close()
    async with discord(agent, NO_THREADS, store=url) as platform:
        await platform.hears("#team", "At your service.")
