"""Conversations on Discord, from the person's fingers to the person's eyes: the whole gateway, a strict platform."""

import asyncio

from rejoinder.agents.base import TextDelta
from rejoinder.events import Route
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import until
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.discord.world import user_id
from tests.conversations.agents import Asking, said
from tests.conversations.discord import discord

NO_THREADS = 'threads = "off"'


async def test_the_owner_is_answered():
    """The first message of a bot's life."""
    agent = ScriptedAgent("Hello, Ann.")
    async with discord(agent) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello, Ann.")
        assert not oracles.typing_after_final(platform.truth.frames)
    assert said(agent.turns[0]) == ["hello"]


async def test_a_stranger_is_paired():
    """IN-11: a code for the stranger, the owner approves it, and then, not before, the agent hears."""
    agent = ScriptedAgent("Hello, Bob.")
    async with discord(agent) as platform:
        await platform.says("bob", "bob", "let me in")
        told = await platform.hears("bob")
        code = told.text.partition("code: ")[2].partition(" ")[0]
        assert not agent.turns
        await platform.says("ann", "ann", f"/approve {code}")
        await platform.hears("ann")
        await platform.says("bob", "bob", "and now?")
        await platform.hears("bob", "Hello, Bob.")
    assert said(agent.turns[0]) == ["and now?"]


async def test_in_a_channel_a_mention_wakes_it():
    """IN-30: by name; a human's reply to it counts too, other talk does not."""
    agent = ScriptedAgent("At your service.", "Gladly.")
    async with discord(agent, NO_THREADS) as platform:
        await platform.says("#team", "ann", "lunch, anyone?")
        await platform.says("#team", "ann", "@testbot are you there?")
        answer = await platform.hears("#team", "At your service.")
        await platform.says("#team", "ann", "thanks", reply_to=answer.id)
        await platform.hears("#team", "Gladly.")
    assert len(agent.turns) == 2


async def test_the_agent_replies_and_reacts():
    """OD-61, OD-70, CH-21: a native reply to the message, a reaction on it, no ping, and nothing of the directives in
    any frame."""
    agent = ScriptedAgent(["[[reply_", "to:current]]\n", "Done.", "<actions><react emoji='thumbs", "up'/></actions>"])
    async with discord(agent, NO_THREADS) as platform:
        question = await platform.says("#team", "ann", "@testbot do it")
        answer = await platform.hears("#team", "Done.")
        await platform.truth.until(lambda: platform.truth.messages("#team", by="ann")[0].reactions == "👍")
    assert answer.reply_to == question


async def test_a_reply_to_nothing_goes_out_once_without_it():
    """CH-21: an unknown target is no reason to be silent, nor to say it twice."""
    agent = ScriptedAgent("[[reply_to:123456789012345678]]\nHere it is.")
    async with discord(agent, NO_THREADS) as platform:
        await platform.says("#team", "ann", "@testbot where is it?")
        answer = await platform.hears("#team", "Here it is.")
        assert answer.reply_to is None
        assert len(platform.truth.messages("#team")) == 1


async def test_an_answer_is_shown_while_it_is_written():
    """DE-20: one message that grows."""
    seen = asyncio.Event()
    agent = ScriptedAgent([TextDelta("A beginning. "), seen.wait, TextDelta("And an end.")])
    async with discord(agent) as platform:
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: any(m.text for m in platform.truth.messages("ann")))
        seen.set()
        answer = await platform.hears("ann", "A beginning. And an end.")
        assert answer.edits > 0
        assert len(platform.truth.messages("ann")) == 1


async def test_nobody_is_pinged():
    """CH-27, DE-34: neither by a name the agent writes, nor by everyone, nor by the reply."""
    agent = ScriptedAgent(f"[[reply_to:current]]\n@everyone ask <@{user_id('bob')}> about it")
    async with discord(agent, NO_THREADS) as platform:
        await platform.says("#team", "bob", "hi")
        await platform.says("#team", "ann", "@testbot who knows?")
        answer = await platform.hears("#team")
        assert "everyone" in answer.text
        assert not oracles.mentions_fired(platform.truth.frames)


async def test_a_slash_command_is_answered_to_the_person_alone():
    """CH-9, CH-26: from the menu that the registry fills."""
    async with discord(ScriptedAgent()) as platform:
        await platform.truth.until(lambda: "testbot" in platform.people.rest.commands)
        offered = {command["name"] for command in platform.people.rest.commands["testbot"]}
        assert {"help", "status", "model", "whoami"} <= offered
        await platform.says("ann", "ann", "/whoami")
        await platform.hears("ann")
        platform.people.interactions.command("#team", "ann", "whoami")
        answer = await platform.hears("#team")
        assert platform.id_of("ann") in answer.text
        assert answer.only_for == "ann"


async def test_every_slash_command_is_answered():
    """CH-9, CH-26: also one whose answer is ready before Discord was told that the command was heard."""
    async with discord(ScriptedAgent()) as platform:
        await platform.says("ann", "ann", "/whoami")
        await platform.hears("ann")
        for name, value, answer in (
            ("whoami", {}, "You are"),
            ("verbose", {"value": "on"}, "Verbose: on."),
            ("think", {"value": "high"}, "Thinking: high."),
        ):
            platform.people.interactions.command("#team", "ann", name, **value)
            await platform.truth.until(
                lambda answer=answer: any(answer in each.text for each in platform.truth.messages("#team"))
            )


async def test_a_permission_is_given_by_a_button():
    """TU-34, CH-10, CH-26: the buttons stand under the question, and go with the answer."""
    agent = Asking()
    async with discord(agent) as platform:
        await platform.says("ann", "ann", "delete it")
        asked = await platform.hears("ann")
        assert asked.buttons
        await platform.presses("ann", "ann", asked.id, asked.buttons[0])
        await platform.truth.until(lambda: not platform.truth.messages("ann")[0].buttons)


async def test_who_is_answered_is_pinged_by_a_fresh_message():
    """CH-23, DE-21, DE-34: an edit pings nobody, so a mention stands in a message of its own; the draft goes."""
    more = asyncio.Event()
    ann = f"<@{user_id('ann')}>"
    agent = ScriptedAgent([TextDelta("It is done. "), more.wait, TextDelta(f"{ann} please look.")])
    async with discord(agent, NO_THREADS, answered="ann") as platform:
        await platform.says("#team", "ann", "@testbot do it")
        await platform.truth.until(lambda: any(each.text for each in platform.truth.messages("#team")))
        draft = platform.truth.messages("#team")[0].id
        more.set()
        await platform.truth.until(lambda: [each.text for each in platform.truth.messages("#team")][-1:] == [
            f"It is done. {ann} please look."
        ])  # fmt: skip
        await platform.truth.until(lambda: len(platform.truth.messages("#team")) == 1)
        assert platform.truth.messages("#team")[0].id != draft
        assert [frame.pinged for frame in platform.truth.frames if frame.by == "bot" and frame.pinged] == [("@ann",)]


async def test_a_bot_that_comes_while_an_answer_is_written_sees_it_whole():
    """CH-23, DE-21: from then on the draft is not changed, and the answer is a fresh message."""
    more = asyncio.Event()
    agent = ScriptedAgent([TextDelta("It is done. "), more.wait, TextDelta("Look at it."), more.wait])
    async with discord(agent, NO_THREADS) as platform:
        platform.people.add_bot("scribe")
        await platform.says("#team", "ann", "@testbot do it")
        await platform.truth.until(lambda: any(each.text for each in platform.truth.messages("#team")))
        edits = [frame for frame in platform.truth.frames if frame.kind == "edit" and frame.by == "bot"]
        bots = await platform.says("#team", "scribe", "I take notes.")
        here = platform.gateway.engine.conversations.at(Route("discord", platform.id_of("#team")))
        await until(lambda: here.messages.facts.other_bot, "the other bot noted")
        more.set()
        await platform.hears("#team", "It is done. Look at it.")
        await platform.truth.until(lambda: len(platform.truth.messages("#team")) == 1)
        now = [frame for frame in platform.truth.frames if frame.kind == "edit" and frame.by == "bot"]
        assert now == edits
        assert int(platform.truth.messages("#team")[0].id) > int(bots)
