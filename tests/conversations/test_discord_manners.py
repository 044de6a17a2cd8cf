"""What Discord asks of a bot, through the whole gateway: drafts that other bots would misread, threads that are closed,
several bots of one gateway in a channel, commands whose time runs out."""

import asyncio

import pytest

from rejoinder.agents.base import TextDelta
from rejoinder.channels.discord import interactions as ours
from rejoinder.runtime.outbox.performing import NOTHING
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import until
from rejoinder.testing.platform.discord import interactions as discords
from tests.conversations.discord import discord


def texts(platform, chat="#team"):
    return [seen.text for seen in platform.truth.messages(chat)]


def kinds(platform, by="bot"):
    """What people saw the bot do to its messages, in order."""
    return [frame.kind for frame in platform.truth.frames if frame.by == by and frame.kind in WRITES]


WRITES = ("message", "edit", "delete")


# --- drafts ---------------------------------------------------------------------------------------


async def test_a_quick_answer_needs_no_draft():
    """CH-22: nothing is written before there is something to say, and what is complete at once is one message."""
    async with discord(ScriptedAgent("At once.")) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "At once.")
    assert kinds(platform) == ["message"]


@pytest.mark.parametrize("deletable", [True, False], ids=["deleted", "cannot be deleted"])
async def test_a_draft_that_becomes_a_reply(deletable, caplog):
    """CH-22: the reply is sent first, then the draft goes; where Discord does not delete it, it is emptied, with a
    warning."""
    go = asyncio.Event()
    end = "upon a time.<actions><reply to='m1'/></actions>"
    async with discord(ScriptedAgent("One.", ["Once ", go.wait, end])) as platform:
        first = await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "One.")
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: len(texts(platform, "ann")) == 2)
        if not deletable:
            platform.fault("403", on="delete")
        go.set()
        left = [] if deletable else [NOTHING]
        await platform.truth.until(lambda: texts(platform, "ann") == ["One.", *left, "Once upon a time."])
        assert platform.truth.messages("ann")[-1].reply_to == first
        assert kinds(platform)[-2:] == ["message", "delete" if deletable else "edit"]
    assert deletable or any(record.levelname == "WARNING" for record in caplog.records)


async def test_a_draft_stays_where_the_reply_is_not_taken():
    """CH-22: not all of it was accepted, so nothing is taken away from people."""
    go = asyncio.Event()
    end = "upon a time.<actions><reply to='m1'/></actions>"
    async with discord(ScriptedAgent("One.", ["Once ", go.wait, end])) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "One.")
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: len(texts(platform, "ann")) == 2)
        platform.fault("403", on="send")
        go.set()
        await until(lambda: platform.gateway.store.count_parts("dead"), "the refusal")
        assert texts(platform, "ann")[1].startswith("Once")
        assert "delete" not in kinds(platform)


async def test_in_the_threads_of_a_channel_where_another_bot_has_written_nothing_is_a_draft():
    """CH-23: it reads what is said in them, and would take the beginning of an answer for the answer; a webhook reads
    nothing."""
    go, bots = asyncio.Event(), asyncio.Event()
    agent = ScriptedAgent(["It is ", go.wait, "done."], ["It is ", bots.wait, "done, too."])
    async with discord(agent) as platform:
        platform.people.add_bot("scribe")
        hook = {"id": "7", "username": "feed", "bot": True}
        await platform.says("#team", "ann", "42 new commits", webhook_id="7", author=hook)
        await platform.says("#team", "ann", "@testbot do it")
        await platform.truth.until(lambda: texts(platform) == ["It is"])
        go.set()
        await platform.hears("#team", "It is done.")
        await platform.says("#team", "scribe", "I take notes.")
        await platform.says("#team", "ann", "@testbot and again")
        await platform.truth.until(lambda: len(agent.turns) == 2)
        seen = len(platform.truth.frames)
        bots.set()
        await platform.hears("#team", "It is done, too.")
        after = [frame for frame in platform.truth.frames[seen:] if frame.by == "bot" and frame.kind in WRITES]
        assert [(frame.kind, frame.text) for frame in after] == [("message", "It is done, too.")]


# --- threads that are closed ----------------------------------------------------------------------


async def test_a_thread_that_is_archived_while_an_answer_is_written_in_it():
    """CH-13, CH-24: Discord changes nothing in it, so it is opened again; the answer stands there whole, once."""
    go = asyncio.Event()
    async with discord(ScriptedAgent(["It is ", go.wait, "done."])) as platform:
        root = await platform.says("#team", "ann", "@testbot do it")
        await platform.truth.until(lambda: texts(platform) == ["It is"])
        platform.people.archives(root)
        go.set()
        assert (await platform.hears("#team", "It is done.")).thread == root
        assert texts(platform) == ["It is done."]
        assert not platform.people.world.rooms[root].archived
        assert not platform.gateway.listeners["discord"].place_troubles


async def test_a_thread_that_a_moderator_locks_while_an_answer_is_written_in_it():
    """CH-13: a sentence says who can help; other places are served, and so is the thread when it is open again."""
    go = asyncio.Event()
    agent = ScriptedAgent(["It is ", go.wait, "done."], "Gladly.", "Again.")
    async with discord(agent) as platform:
        root = await platform.says("#team", "ann", "@testbot do it")
        await platform.truth.until(lambda: texts(platform) == ["It is"])
        platform.people.archives(root, locked=True)
        go.set()
        bot = platform.gateway.listeners["discord"]
        await until(lambda: any("archived and locked: a moderator" in each for each in bot.place_troubles))
        await platform.says("ann", "ann", "are you there?")
        await platform.hears("ann")
        platform.people.rest.archive(platform.people.world.rooms[root], archived=False)
        await platform.says("#team", "ann", "and now?", thread=root)
        await platform.truth.until(lambda: {"Gladly.", "Again."} & {*texts(platform)} != set())
        await until(lambda: not bot.place_troubles)


async def test_what_was_asked_in_an_archived_thread_while_nobody_listened():
    """CH-20, CH-24: Discord does not name such a thread in a new session; what is known of it is read."""
    async with discord(ScriptedAgent("Soup.", "Bread.")) as platform:
        root = await platform.says("#team", "ann", "@testbot what is for lunch?")
        await platform.hears("#team", "Soup.")
        platform.people.gateway.end_sessions()
        await platform.says("#team", "ann", "and with it?", thread=root)
        platform.people.archives(root)
        await platform.truth.until(lambda: "Bread." in texts(platform))
        assert said_by(platform, "bot", root)[-1] == "Bread."


# --- several bots of one gateway ------------------------------------------------------------------


async def test_two_bots_of_one_gateway_in_one_channel():
    """CH-4, CH-24: each answers who asks it, neither answers the other; asked together, the second joins the thread of
    the first."""
    agent = ScriptedAgent("Here.", "Here.", "Both.", "Both.")
    platform = FakePlatform("discord")
    second = f'[channels.discord.accounts.second]\ntoken = "{platform.people.add_bot("second")}"'
    async with discord(agent, second, platform=platform):
        await until(lambda: begun(platform) == {"testbot", "second"}, "both sessions")
        for name, shown in (("testbot", "bot"), ("second", "second")):
            question = await platform.says("#team", "ann", f"@{name} are you there?")
            await platform.truth.until(lambda who=shown, at=question: said_by(platform, who, at) == ["Here."])
        root = await platform.says("#team", "ann", "@testbot @second and both of you?")
        await platform.truth.until(
            lambda: said_by(platform, "bot", root) == said_by(platform, "second", root) == ["Both."]
        )
        await platform.says("ann", "ann", "/status")  # whatever else was to be answered was heard before it
        await platform.truth.until(lambda: bool(platform.truth.messages("ann")))
    assert len(agent.turns) == 4


def begun(platform):
    return {call.payload["bot"] for call in platform.truth.calls if call.name == "IDENTIFY"}


def said_by(platform, name, thread):
    return [seen.text for seen in platform.truth.messages("#team", by=name) if seen.thread == thread]


# --- commands whose time runs out -----------------------------------------------------------------


async def asked_for(platform):
    """The menu is there, and ann is known."""
    await platform.truth.until(lambda: "testbot" in platform.people.rest.commands)
    await platform.says("ann", "ann", "/whoami")
    await platform.hears("ann")


@pytest.mark.parametrize("late", ["three seconds", "a quarter of an hour", "by our own clock"])
async def test_an_answer_to_a_command_that_comes_too_late_is_said_the_ordinary_way(monkeypatch, late):
    """CH-3, CH-26: Discord takes a sign within three seconds and words within fifteen minutes; after that, and where
    only it knows that they are over, the answer is a message like any other, once."""
    if late == "three seconds":
        monkeypatch.setattr(discords, "ANSWER_SECONDS", -1.0)
    if late == "by our own clock":
        monkeypatch.setattr(ours, "TOKEN_SECONDS", -1.0)
    go = asyncio.Event()
    async with discord(ScriptedAgent([go.wait, TextDelta("Hello again.")])) as platform:
        await asked_for(platform)
        opened = platform.people.interactions.command("#team", "ann", "new", prompt="hello")
        await until(lambda: any("callback" in call.name for call in platform.truth.calls), "a sign")
        if late == "a quarter of an hour":
            await until(lambda: opened.answered is not None, "the sign")
            monkeypatch.setattr(discords, "TOKEN_SECONDS", -1.0)
        go.set()
        await platform.truth.until(lambda: "Hello again." in texts(platform))
        assert texts(platform).count("Hello again.") == 1
        answered = [call for call in platform.truth.calls if call.payload.get("content") == "Hello again."]
        assert [call.name.startswith("POST /channels/") for call in answered if call.status == 200] == [True]


async def test_what_only_one_person_may_see_is_shown_to_nobody_else_when_it_is_late(monkeypatch):
    """CH-3: in a channel it is not said at all; in a direct chat there is nobody else, so it is."""
    async with discord(ScriptedAgent()) as platform:
        await asked_for(platform)
        monkeypatch.setattr(discords, "ANSWER_SECONDS", -1.0)
        platform.people.interactions.command("#team", "ann", "whoami")
        before = len(texts(platform, "ann"))
        platform.people.interactions.command("ann", "ann", "whoami")
        await platform.truth.until(lambda: len(texts(platform, "ann")) > before)
        assert not texts(platform)
