"""Threads on Discord, through the whole gateway: a mention opens one, and the conversation goes on in it."""

from rejoinder.testing import ScriptedAgent
from tests.conversations.agents import said
from tests.conversations.discord import discord


async def test_a_mention_opens_a_thread_and_the_conversation_goes_on_there():
    """CH-24, CH-2, IN-22: under the question, titled by its first words; in it no mention is needed."""
    agent = ScriptedAgent("Soup.", "With bread.")
    async with discord(agent) as platform:
        root = await platform.says("#team", "ann", "@testbot what is for lunch?")
        answer = await platform.hears("#team", "Soup.")
        assert (answer.thread, answer.reply_to) == (root, None)
        assert platform.people.world.rooms[root].name == "what is for lunch?"
        await platform.says("#team", "ann", "and with it?", thread=root)
        assert (await platform.hears("#team", "With bread.")).thread == root
    assert said(agent.turns[1])[-1] == "and with it?"
    assert agent.turns[0].session == agent.turns[1].session


async def test_the_agent_names_its_thread():
    """CH-24: `[[title:...]]`."""
    async with discord(ScriptedAgent("[[title:Lunch plans]]\nSoup.")) as platform:
        root = await platform.says("#team", "ann", "@testbot what is for lunch?")
        await platform.hears("#team", "Soup.")
        assert platform.people.world.rooms[root].name == "Lunch plans"


async def test_a_thread_that_cannot_be_opened_is_no_reason_to_be_silent():
    """CH-2: somebody opened it meanwhile, and we join; the answer stands in it, once."""
    async with discord(ScriptedAgent("Soup.")) as platform:
        platform.fault("accept-drop", on="thread")
        root = await platform.says("#team", "ann", "@testbot what is for lunch?")
        assert (await platform.hears("#team", "Soup.")).thread == root
        assert len(platform.truth.messages("#team")) == 1


async def test_a_post_of_a_forum_is_answered_where_it_stands():
    """CH-24: it is a thread already."""
    async with discord(ScriptedAgent("Good idea.")) as platform:
        await platform.says("ann", "ann", "/help")
        thread = await platform.people.posts("#forum", "ann", "Ideas", "@testbot what do you think?")
        assert (await platform.hears("#forum", "Good idea.")).thread == thread
