"""Slash commands, buttons and menus, and threads that an answer opens: against the strict platform."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from rejoinder.channels.base import Delivered, Rejected, RetryAfter
from rejoinder.channels.discord import interactions
from rejoinder.errors import NotStored
from rejoinder.events import Choice, Invoked, MenuCommand, MenuOption, NewThread, Part, ReplyContext, Route
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE
from tests.channels.discord.served import bot, listening

MENU = (
    MenuCommand("status", "What runs", private=True),
    MenuCommand("model", "Which model", (MenuOption("name", "Its name", rest=True, suggests=True),)),
    MenuCommand("think", "How much", (MenuOption("level", choices=("low", "high")), MenuOption("why", required=True))),
    MenuCommand("Bad Name", "left out"),
)


class Suggesting(RecordingInlet):
    async def suggest(self, typed, option):
        return tuple(f"{typed.invoked.options[option]}-{number}" for number in range(30))


class Slow(RecordingInlet):
    async def __call__(self, *messages, within=None, **how):
        if within is not None:
            raise NotStored("discord: not stored within 2 s")
        await super().__call__(*messages, **how)


@pytest.fixture
async def platform():
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("discord") as platform:
        platform.people.world.room("#team")
        yield platform


@pytest.fixture
async def served(platform):
    inlet = Suggesting()
    channel = bot(platform, threads="auto")
    channel.take_menu(MENU)
    async with listening(channel, inlet):
        await platform.says("ann", "ann", "hi")
        await inlet.message("hi")
        yield platform, channel, inlet


def here(platform, chat="#team", thread=None):
    return Route("discord", platform.people.world.room(chat).id, thread)


def test_the_menu():
    """CH-9: options with choices or suggestions, required ones first; names that Discord does not take are left out."""
    status, model, think = interactions.commands(MENU)
    assert (status["name"], status["options"]) == ("status", [])
    assert model["options"][0]["autocomplete"] is True
    assert [option["name"] for option in think["options"]] == ["why", "level"]
    assert [choice["value"] for choice in think["options"][1]["choices"]] == ["low", "high"]


async def test_a_command_is_heard_and_answered_to_the_person_alone(served):
    """CH-26, CH-3: stored, deferred within three seconds, and answered by its own token; a second answer follows it."""
    platform, channel, inlet = served
    opened = platform.people.interactions.command("#team", "ann", "status")
    heard = await inlet.message("/status")
    assert (heard.entry, heard.invoked) == ("native", Invoked("status"))
    assert (heard.chat.id, heard.sender.id) == (platform.id_of("#team"), platform.id_of("ann"))
    await platform.truth.until(lambda: opened.answered is not None)
    assert (opened.answered, opened.private) == (interactions.DEFERRED, True)
    part = Part(here(platform), "All fine.", only_for=heard.sender.id, reply_context=heard.reply_context)
    assert isinstance(await channel.send(part), Delivered)
    assert isinstance(await channel.send(Part(here(platform), "More.", reply_context=heard.reply_context)), Delivered)
    assert [(seen.text, seen.only_for) for seen in platform.truth.messages("#team")] == [
        ("All fine.", "ann"),
        ("More.", ""),
    ]


async def test_options_come_by_name(served):
    """CH-9."""
    platform, _, inlet = served
    platform.people.interactions.command("ann", "ann", "think", level="high", why="because")
    assert (await inlet.message("/think high because")).invoked == Invoked("think", {"level": "high", "why": "because"})


async def test_values_are_suggested_while_they_are_typed(served):
    """CH-26: as many as Discord shows."""
    platform, _, inlet = served
    opened = platform.people.interactions.complete("#team", "ann", "model", "name", "gpt")
    await platform.truth.until(lambda: opened.answered is not None)
    assert opened.choices == [f"gpt-{number}" for number in range(25)]
    assert inlet.texts == ["hi"]


async def test_a_store_that_is_away_is_told(platform):
    """CH-5: the person is told within Discord's three seconds; what was chosen is stored when that is possible."""
    inlet, channel = Slow(), bot(platform)
    channel.take_menu(MENU)
    async with listening(channel, inlet):
        await platform.says("ann", "ann", "hi")
        await inlet.message("hi")
        opened = platform.people.interactions.command("#team", "ann", "status")
        await inlet.message("/status")
        await platform.truth.until(lambda: opened.answered is not None)
        told = await platform.hears("#team", interactions.BUSY)
        assert (opened.answered, told.only_for) == (interactions.ANSWER, "ann")


async def test_an_interaction_that_is_over_is_answered_the_ordinary_way(served):
    """CH-3: unless only one person may see it."""
    platform, channel, _ = served
    over = ReplyContext("no-such-token", datetime.now(UTC) + timedelta(minutes=5), True, {"application": "1"})
    assert isinstance(await channel.send(Part(here(platform), "Still here.", reply_context=over)), Delivered)
    private = Part(here(platform), "Secret.", only_for="5", reply_context=over)
    assert isinstance(await channel.send(private), Rejected)
    assert [seen.text for seen in platform.truth.messages("#team")] == ["Still here."]


@pytest.mark.parametrize("count", [2, 7], ids=["buttons", "a menu"])
async def test_a_choice_says_its_words(served, count):
    """CH-26, TU-34: a button, or an entry of a menu above five; the press is noticed, and can be answered alone."""
    platform, channel, inlet = served
    choices = tuple(Choice(f"Option {number}", f"/answer q1 {number}") for number in range(count))
    sent = await channel.send(Part(here(platform), "Which?", choices=choices))
    await platform.presses("#team", "bob", sent.message, "Option 1")
    pressed = await inlet.message("/answer q1 1")
    assert (pressed.entry, pressed.sender.id) == ("button", platform.id_of("bob"))
    assert pressed.reply_to.message_id == sent.message
    (opened,) = platform.people.interactions.all
    await platform.truth.until(lambda: opened.answered == interactions.DEFERRED_UPDATE)
    alone = Part(here(platform), "It is not for you.", only_for=pressed.sender.id, reply_context=pressed.reply_context)
    await channel.send(alone)
    assert platform.truth.messages("#team")[-1].only_for == "bob"
    await channel.edit(here(platform), sent.message, Part(here(platform), "Which? Option 1."))
    assert platform.truth.messages("#team")[0].buttons == ()


async def test_an_answer_without_words_leaves_nothing_behind(served):
    """CH-26: the sign that an answer is to come goes."""
    platform, channel, inlet = served
    opened = platform.people.interactions.command("#team", "ann", "status")
    heard = await inlet.message("/status")
    await platform.truth.until(lambda: opened.answered is not None)
    await channel.acknowledge_press(heard.reply_context)
    assert any(call.name.startswith("DELETE /webhooks/") for call in platform.truth.calls)


# --- threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threads", "opens"), [("off", (False, False)), ("auto", (False, True)), ("always", (True, True))]
)
async def test_which_message_opens_a_thread(platform, threads, opens):
    """CH-24: a mention in a text channel, every message, or none; never in a direct chat, a thread or a forum."""
    inlet = RecordingInlet()
    async with listening(bot(platform, threads=threads), inlet):
        await platform.says("#team", "ann", "plain")
        root = await platform.says("#team", "ann", "@testbot what about lunch?")
        thread = await platform.people.opens_thread("#team", "ann", root, "a thread")
        await platform.says("#team", "ann", "@testbot in it", thread=thread)
        await platform.says("ann", "ann", "@testbot alone")
        post = await platform.people.posts("#forum", "ann", "Ideas", "@testbot in a post")
        await inlet.until(lambda: len(inlet.kept) == 5)
    plain, mention, *others = inlet.kept.values()
    assert (plain.opens is not None, mention.opens is not None) == opens
    assert not [other for other in others if other.opens is not None]
    assert post
    if mention.opens is not None:
        assert mention.opens == NewThread(root, "what about lunch?")


async def test_an_answer_opens_its_thread_once(served):
    """CH-2, CH-24: under the question, with a title; who comes second joins."""
    platform, channel, inlet = served
    root = await platform.says("#team", "ann", "@testbot lunch?")
    await inlet.message(f"<@{channel.own_id}> lunch?")
    part = Part(here(platform, thread=root), "Soup.", key="1", opens=NewThread(root, "Lunch"))
    assert isinstance(await channel.send(part), Delivered)
    channel._places.forget(root)
    assert isinstance(await channel.send(Part(part.route, "Bread.", key="2", opens=part.opens)), Delivered)
    said = platform.truth.messages("#team")
    assert [(seen.text, seen.thread) for seen in said] == [("Soup.", root), ("Bread.", root)]
    assert platform.people.world.rooms[root].name == "Lunch"


async def test_an_unclear_thread_is_looked_for(served):
    """CH-2: it was opened, and the answer got lost; or it was not, and is opened again."""
    platform, channel, inlet = served
    for kind in ("accept-drop", "drop"):
        root = await platform.says("#team", "ann", f"@testbot {kind}?")
        await inlet.message(f"<@{channel.own_id}> {kind}?")
        platform.fault(kind, on="thread")
        part = Part(here(platform, thread=root), kind, key=kind, opens=NewThread(root, "Lunch"))
        outcome = await channel.send(part)
        if kind == "drop":
            assert isinstance(outcome, RetryAfter)
            outcome = await channel.send(part)
        assert isinstance(outcome, Delivered)
    assert [seen.text for seen in platform.truth.messages("#team")] == ["accept-drop", "drop"]


async def test_a_thread_that_is_refused_is_told_as_such(served):
    """CH-24: the words can still be said in the channel."""
    platform, channel, _ = served
    outcome = await channel.send(Part(here(platform, thread="123456"), "hi", opens=NewThread("123456", "x")))
    assert isinstance(outcome, Rejected)
    assert outcome.why == "thread"


async def test_a_deleted_message_is_told(served):
    """CH-8."""
    platform, _, inlet = served
    message = await platform.says("#team", "ann", "oops")
    await inlet.message("oops")
    await platform.people.deletes("#team", "ann", message)
    await inlet.until(lambda: any(heard.entry == "delete" for heard in inlet.given))
    assert inlet.given[-1].message_id == message
