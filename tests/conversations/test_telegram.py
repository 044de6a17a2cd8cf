"""Conversations on Telegram, from the person's fingers to the person's eyes: the whole gateway, a strict platform."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from rejoinder.agents.base import TextDelta, Thought
from rejoinder.app import MEMORY, Gateway
from rejoinder.config.load import read
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.faults import Fault
from rejoinder.testing.platform.telegram import world
from rejoinder.wiring.opening import open_channels
from tests.conversations.agents import Asking, said

SETTINGS = """
[agents.scripted]
kind = "scripted"
script = "answers.json"

[channels.telegram]
{here}
owners = ["{owner}"]
allow_groups = ["{group}"]
{more}

[messages.queue]
debounce_ms = 0
"""


@asynccontextmanager
async def telegram(agent, more="", answered=None, **options):
    """Ann owns the bot; #team is a group it may take part in. `answered`: who may be called by name."""
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram", **options) as platform:
        text = SETTINGS.format(
            here=platform.config(), owner=platform.id_of("ann"), group=platform.id_of("#team"), more=more
        )
        settings = read(text, "rejoinder.toml", {})
        async with Gateway(
            settings, agents={agent.name: agent}, channels=open_channels(settings), store=MEMORY
        ) as gateway:
            serving = asyncio.create_task(gateway.serve())
            yield platform
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
        frames = platform.truth.frames
        assert not oracles.leaked(frames)
        assert all(answered and fired.endswith(f": @{answered}") for fired in oracles.mentions_fired(frames))


async def test_the_owner_is_answered():
    """The first message of a bot's life."""
    agent = ScriptedAgent("Hello, Ann.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello, Ann.")
    assert said(agent.turns[0]) == ["hello"]


async def test_the_typing_sign_is_shown_while_it_works():
    """TU-24: on while the agent works, and not after its answer."""
    shown = asyncio.Event()
    async with telegram(ScriptedAgent([shown.wait, "Hello."])) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.truth.until(lambda: any(frame.kind == "typing" for frame in platform.truth.frames))
        shown.set()
        await platform.hears("ann", "Hello.")
        assert not oracles.typing_after_final(platform.truth.frames)


async def test_a_stranger_is_paired():
    """IN-11: a code for the stranger, the owner approves it, and then, not before, the agent hears."""
    agent = ScriptedAgent("Hello, Bob.")
    async with telegram(agent) as platform:
        await platform.says("bob", "bob", "let me in")
        told = await platform.hears("bob")
        code = told.text.partition("code: ")[2].partition(" ")[0]
        assert not agent.turns
        await platform.says("ann", "ann", f"/approve {code}")
        await platform.hears("ann")
        await platform.says("bob", "bob", "and now?")
        await platform.hears("bob", "Hello, Bob.")
    assert said(agent.turns[0]) == ["and now?"]


@pytest.mark.parametrize("reads_everything", [True, False], ids=["reads all", "privacy mode"])
async def test_in_a_group_a_mention_wakes_it(reads_everything):
    """IN-30: by name; a human's reply to it counts too, other talk does not."""
    agent = ScriptedAgent("At your service.", "Gladly.")
    async with telegram(agent, reads_everything=reads_everything) as platform:
        await platform.says("#team", "ann", "lunch, anyone?")
        await platform.says("#team", "ann", "@testbot are you there?")
        answer = await platform.hears("#team", "At your service.")
        await platform.says("#team", "ann", "thanks", reply_to=answer.id)
        await platform.hears("#team", "Gladly.")
    assert len(agent.turns) == 2


async def test_a_command_for_another_bot_is_not_ours():
    """IN-60: /help@otherbot is none of our business, /help@testbot is."""
    async with telegram(ScriptedAgent()) as platform:
        await platform.says("#team", "ann", "/help@otherbot")
        await platform.says("#team", "ann", "/whoami@testbot")
        assert platform.id_of("ann") in (await platform.hears("#team")).text
        assert len(platform.truth.messages("#team")) == 1


async def test_the_agent_replies_and_reacts():
    """OD-61, OD-70: a native reply to the message, a reaction on it, and nothing of the directives in any frame."""
    agent = ScriptedAgent(["[[reply_", "to:current]]\n", "Done.", "<actions><react emoji='thumbs", "up'/></actions>"])
    async with telegram(agent) as platform:
        question = await platform.says("ann", "ann", "do it")
        answer = await platform.hears("ann", "Done.")
        await platform.truth.until(lambda: platform.truth.messages("ann", by="ann")[0].reactions == "👍")
    assert answer.reply_to == question


async def test_a_preview_is_shown_until_the_answer_is_whole():
    """DE-20, DU-4: `streaming = "preview"`: one message, whole from its first instant, and its words as they come."""
    more = asyncio.Event()
    agent = ScriptedAgent(["[[reply_to:current]]\n*One*", more.wait, " two.<actions><react emoji='eyes'/></actions>"])
    async with telegram(agent, 'streaming = "preview"') as platform:
        question = await platform.says("ann", "ann", "count")
        await platform.truth.until(lambda: any(frame.kind == "preview" for frame in platform.truth.frames))
        more.set()
        answer = await platform.hears("ann", "One two.")
    shown = [(frame.kind, frame.text) for frame in platform.truth.frames if frame.by == "bot"]
    assert ("preview", "One") in shown
    assert [text for kind, text in shown if kind in ("message", "edit")] == ["One two."]
    assert answer.reply_to == question
    assert not oracles.typing_after_final(platform.truth.frames)


async def test_what_was_previewed_stands_above_the_question():
    """TU-34: a preview goes with the next message; the words before a question become one."""

    class Explaining(Asking):
        async def run(self, turn):
            yield TextDelta("It is full.")
            async for event in super().run(turn):
                yield event

    async with telegram(Explaining(), 'streaming = "preview"') as platform:
        await platform.says("ann", "ann", "clean up")
        await platform.truth.until(lambda: len(platform.truth.messages("ann")) == 2)
        draft, question = platform.truth.messages("ann")
        assert draft.text == "It is full."
        await platform.presses("ann", "ann", question.id, "Deny")
        await platform.truth.until(lambda: "I was told" in platform.truth.messages("ann")[0].text)


@pytest.mark.parametrize(("chat", "fault"), [("#team", None), ("ann", Fault("404", on="preview"))])
async def test_where_there_is_no_preview_a_message_is_changed(chat, fault):
    """A group, or a Bot API server of another age: as without `preview`, from then on without asking."""
    more = asyncio.Event()
    async with telegram(ScriptedAgent(["One", more.wait, " two."], "Three."), 'streaming = "preview"') as platform:
        if fault is not None:
            platform.faults.add(fault)
        await platform.says(chat, "ann", "@testbot count")
        await platform.truth.until(lambda: [seen.text for seen in platform.truth.messages(chat)] == ["One"])
        more.set()
        await platform.hears(chat, "One two.")
        await platform.says(chat, "ann", "@testbot go on")
        await platform.hears(chat, "Three.")
    asked = [call.name for call in platform.truth.calls if call.verb == "preview"]
    assert len(asked) == (0 if fault is None else 1)


@pytest.mark.parametrize(("label", "told"), [("Allow once", "I was told allow-once."), ("Deny", "I was told None.")])
async def test_a_permission_is_given_by_a_button(label, told):
    """TU-34: the asker presses, and the agent goes on."""
    async with telegram(Asking()) as platform:
        await platform.says("ann", "ann", "clean up")
        question = await platform.hears("ann")
        assert question.buttons == ("Allow once", "Deny")
        await platform.presses("ann", "ann", question.id, label)
        await platform.truth.until(lambda: told in [seen.text for seen in platform.truth.messages("ann")])
        assert platform.people.methods.answered


@pytest.mark.parametrize(
    ("ends", "seconds", "became"),
    [
        ("/approve {which}", 300, "Allowed once."),
        ("/approve {which} deny", 300, "Denied."),
        ("/stop", 300, "No longer valid: the run has ended."),
        ("wait", 1, "Denied: nobody answered in time."),
    ],
)
async def test_the_buttons_go_with_the_question(ends, seconds, became):
    """TU-34: whatever ends a request, there is nothing left to press, and it says what became of it."""
    async with telegram(Asking(), f"[gateway]\nquestion_timeout_s = {seconds}") as platform:
        await platform.says("ann", "ann", "clean up")
        question = await platform.hears("ann")
        words = question.text.partition("\n")[0]
        await platform.says("ann", "ann", ends.format(which=question.text.rpartition("/approve ")[2].split()[0]))
        await platform.truth.until(lambda: not any(seen.buttons for seen in platform.truth.messages("ann")))
        assert platform.truth.messages("ann")[0].text == f"{words}\n\n{became}"


async def test_a_question_that_was_taken_away_does_not_come_back():
    """OD-62: there is no button left to take away, so nothing is said, and nothing is given up either."""
    async with telegram(Asking()) as platform:
        await platform.says("ann", "ann", "clean up")
        question = await platform.hears("ann")
        which = question.text.rpartition("/approve ")[2].split()[0]
        platform.people.world.room("ann").messages.pop(int(question.id))
        await platform.says("ann", "ann", f"/approve {which}")
        await platform.truth.until(lambda: "I was told allow-once." in platform.truth.transcript())
        seen = [message.text for message in platform.truth.messages("ann")]
    assert sorted(seen) == sorted([question.text, f"Request {which}: allow-once.", "I was told allow-once."])


async def test_nobody_elses_button_counts():
    """IN-12, CH-10: a button is a door like any other: who may not answer, does not, and is told so alone."""
    async with telegram(Asking(), 'groups = "open"') as platform:
        await platform.says("#team", "ann", "@testbot clean up")
        question = await platform.hears("#team")
        await platform.presses("#team", "bob", question.id, "Allow once")
        await platform.truth.until(lambda: platform.people.methods.alerts)
        assert platform.people.methods.alerts == [("bob", "Nothing was done: you may not do this here.")]
        assert len(platform.truth.messages("#team")) == 1
        await platform.presses("#team", "ann", question.id, "Deny")
        await platform.truth.until(
            lambda: "I was told None." in [seen.text for seen in platform.truth.messages("#team")]
        )


async def test_a_group_that_moved_goes_on():
    """IN-10, IN-40: what is configured for it holds under its new id, and the session is the one it had."""
    agent = ScriptedAgent("Noted.", "Still here.")
    group = '[channels.telegram.group."{id}"]\nrequire_mention = false'.format(id=world.group_id("#team"))
    async with telegram(agent, group) as platform:
        await platform.says("#team", "ann", "the number is 7")
        await platform.hears("#team", "Noted.")
        platform.people.moves("#team", "#bigteam")
        await platform.says("#bigteam", "ann", "what was it?")
        await platform.hears("#bigteam", "Still here.")
    assert agent.turns[0].session == agent.turns[1].session


async def test_an_answer_that_is_being_written_moves_with_its_group():
    """OD-62: neither the draft nor the question is in the new group: the whole answer is said there, plainly, once."""
    go = asyncio.Event()
    agent = ScriptedAgent(["Once upon a time ", go.wait, "there was a bot."], "The end.")
    async with telegram(agent) as platform:
        await platform.says("#team", "ann", "@testbot tell me")
        await platform.truth.until(lambda: "Once" in platform.truth.transcript())
        platform.people.moves("#team", "#bigteam")
        go.set()
        told = await platform.hears("#bigteam", "Once upon a time there was a bot.")
        assert told.reply_to is None
        await platform.says("#bigteam", "ann", "@testbot and then?")
        await platform.hears("#bigteam", "The end.")
        assert len(platform.truth.messages("#bigteam")) == 2


async def test_a_message_that_comes_twice_is_answered_once():
    """DU-1: redelivered under a new update id, it is the same message."""
    agent = ScriptedAgent("Once.", "Next.")
    async with telegram(agent) as platform:
        platform.fault("duplicate", on="event")
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Once.")
        await platform.says("ann", "ann", "and?")
        await platform.hears("ann", "Next.")
    assert len(agent.turns) == 2


async def test_the_menu_comes_from_the_registry():
    """IN-60: what works is offered, in Telegram's own menu."""
    agent = ScriptedAgent("hi")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann")
        offered = {command["command"] for command in platform.people.methods.commands}
    assert {"help", "status", "new", "stop", "think"} <= offered


async def test_an_album_is_one_turn():
    agent = ScriptedAgent("Nice.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "look", pictures=3)
        await platform.hears("ann", "Nice.")
    assert len(agent.turns) == 1


@pytest.mark.parametrize(
    ("more", "kind"), [("", "edit"), ('streaming = "blocks"', "edit"), ('streaming = "preview"', "preview")]
)
async def test_thoughts_can_be_watched_where_a_message_does_not_grow(more, kind):
    """IN-59: a live draft by the channel's means, before the answer begins; then a message of its own above it."""
    go = asyncio.Event()
    agent = ScriptedAgent([Thought("Hm, "), go.wait, Thought("yes."), "B."])
    async with telegram(agent, more) as platform:
        await platform.says("ann", "ann", "/reasoning stream")
        await platform.hears("ann", "Reasoning: stream.")
        await platform.says("ann", "ann", "two")
        frames = platform.truth.frames
        await platform.truth.until(lambda: any((f.kind, f.text) == (kind, "💭 Hm,") for f in frames))
        assert "B." not in [seen.text for seen in platform.truth.messages("ann")]
        go.set()
        await platform.truth.until(
            lambda: [seen.text for seen in platform.truth.messages("ann")][-2:] == ["💭 Hm, yes.", "B."]
        )


async def test_no_watched_thought_stays_beside_silence():
    """OD-41, IN-59: taken back with the answer, by the channel's means."""
    agent = ScriptedAgent([Thought("Hm."), "NO_REPLY"])
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "/reasoning stream")
        await platform.hears("ann", "Reasoning: stream.")
        await platform.says("ann", "ann", "two")
        await platform.truth.until(lambda: any(frame.kind == "delete" for frame in platform.truth.frames))
        assert [seen.text for seen in platform.truth.messages("ann")][-1] == "Reasoning: stream."
