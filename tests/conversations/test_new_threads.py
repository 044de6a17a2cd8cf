"""Threads that an answer opens (CH-2): the turn belongs to the thread before it is there."""

import asyncio

import pytest

from rejoinder.channels.base import Delivered, Limits, RetryAfter, Unknown
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, Settings
from rejoinder.events import Route
from rejoinder.testing import FakeMessenger, FakeThreads, ScriptedAgent, conversation
from tests.conversations.restarting import Machine, until
from tests.conversations.test_threads import block, texts

LAB = {"chat": "lab", "kind": "group"}


def lab(**common) -> Settings:
    return Settings(channels={"fake": ConfiguredChannel("fake", CommonChannelSettings(groups="open", **common), {})})


async def never() -> None:
    await asyncio.Event().wait()


async def test_a_mention_opens_a_thread_and_the_talk_goes_on_there():
    """CH-2, IN-44: answer, session and home of the thread are those of the turn; in it no mention is needed."""
    channel = FakeThreads()
    agent = ScriptedAgent("Let me see.", "It is the parser.")
    async with conversation(agent, channel, lab()) as chat:
        asked = await channel.says("@bot why does\nit fail?", mention=True, **LAB)
        answer = await chat.hears("Let me see.")
        assert (answer.thread, answer.reply_to) == (asked, None)
        assert channel.threads == {asked: "why does"}
        await channel.says("and now?", thread=asked, **LAB)
        second = await chat.hears("It is the parser.")
        assert second.thread == asked
    one, two = agent.turns
    assert one.session == two.session
    assert one.session.endswith(f"thread:{asked}")
    assert block(one, "thread_starter") is None, "the message itself is no context of itself"
    assert channel.created == [asked], "the second answer opens nothing"


@pytest.mark.parametrize(
    ("threads", "mention", "opens"),
    [("off", True, False), ("auto", True, True), ("auto", False, False), ("always", True, True)],
)
async def test_when_a_thread_is_opened(threads, mention, opens):
    """CH-24: `auto` opens one for a mention, `always` for every answer, `off` for none."""
    channel = FakeThreads(threads=threads)
    async with conversation(ScriptedAgent("Here."), channel, lab(require_mention=False)) as chat:
        asked = await channel.says("@bot hello" if mention else "hello", mention=mention, **LAB)
        assert (await chat.hears("Here.")).thread == (asked if opens else None)


async def test_a_direct_chat_and_a_thread_open_none():
    """CH-24: in direct chats and in threads none is opened."""
    channel = FakeThreads(threads="always")
    channel.threads["70"] = "an old one"
    async with conversation(ScriptedAgent("One.", "Two."), channel, lab()) as chat:
        await channel.says("hello")
        assert (await chat.hears("One.")).thread is None
        await channel.says("@bot hello", mention=True, thread="70", **LAB)
        assert (await chat.hears("Two.")).thread == "70"
    assert channel.created == []


async def test_the_agent_gives_the_title():
    """CH-24, OD-72: `[[title:...]]` before the first words."""
    channel = FakeThreads()
    async with conversation(ScriptedAgent("[[title:The parser]]\nLet me see."), channel, lab()) as chat:
        asked = await channel.says("@bot why?", mention=True, **LAB)
        await chat.hears("Let me see.")
    assert channel.threads == {asked: "The parser"}


async def test_a_title_is_as_long_as_the_channel_says():
    """CH-1, CH-24: its limits say so, and nobody else."""
    channel = FakeThreads(limits=Limits(title=6))
    async with conversation(ScriptedAgent("[[title:The parser]]\nLet me see."), channel, lab()) as chat:
        asked = await channel.says("@bot why?", mention=True, **LAB)
        await chat.hears("Let me see.")
    assert channel.threads == {asked: "The pa"}


async def test_a_title_without_a_thread_is_told_to_the_agent():
    """OD-51: it is said, not failed."""
    channel = FakeThreads()
    agent = ScriptedAgent("[[title:The parser]]\nLet me see.", "Yes.")
    async with conversation(agent, channel, lab()) as chat:
        await channel.says("why?")
        await chat.hears("Let me see.")
        await channel.says("really?")
        await chat.hears("Yes.")
    assert "this answer opens no thread" in "\n".join(part.text for part in agent.turns[1].parts)


async def test_commands_are_answered_where_they_were_given():
    """CH-2: a command is no reason for a thread, and its session is that of the chat."""
    channel = FakeThreads(threads="always")
    async with conversation(ScriptedAgent(), channel, lab()) as chat:
        await channel.says("@bot /status", mention=True, **LAB)
        said = await chat.hears()
        assert said.thread is None
        assert "Session: scripted:fake:default:group:lab," in said.text
    assert channel.created == []


async def test_the_rule_of_the_chat_holds_for_the_threads_it_opens():
    """IN-31: `/activation always` said in the chat wakes the agent for messages that will open a thread."""
    channel = FakeThreads(threads="always")
    async with conversation(ScriptedAgent("Here."), channel, lab()) as chat:
        await channel.says("@bot /activation always", mention=True, **LAB)
        await chat.hears()
        asked = await channel.says("hello", **LAB)
        assert (await chat.hears("Here.")).thread == asked


async def test_what_was_said_before_in_the_chat_is_told_to_each_thread():
    """IN-32: what nobody addressed to the agent comes before, in every thread; what opened another thread too."""
    channel = FakeThreads()
    agent = ScriptedAgent("One.", "Two.")
    async with conversation(agent, channel, lab()) as chat:
        heard = await channel.says("it fails since noon", sender="bob", **LAB)
        first = await channel.says("@bot why?", mention=True, **LAB)
        await chat.hears("One.")
        await channel.says("@bot and who?", mention=True, **LAB)
        await chat.hears("Two.")
    assert texts(agent.turns[0]) == [("it fails since noon", "bob", heard)]
    assert texts(agent.turns[1]) == [("it fails since noon", "bob", heard), ("@bot why?", "ann", first)]


async def test_actions_reach_the_message_the_thread_hangs_under():
    """CH-2, CH-21: a reaction to it is put on it in the chat; a native reply to it is impossible and left out."""
    channel = FakeThreads()
    agent = ScriptedAgent(
        '[[reply_to:root]]\n<actions><react emoji="eyes" /></actions>Let me see.',
        '<actions><react emoji="tada" message="root" /></actions>Done.',
    )
    async with conversation(agent, channel, lab(status_reactions=True)) as chat:
        asked = await channel.says("@bot why?", mention=True, **LAB)
        answer = await chat.hears("Let me see.")
        assert (answer.thread, answer.reply_to) == (asked, None)
        await chat.sees_reaction("👀", on=asked)
        await channel.says("go on", thread=asked, **LAB)
        await chat.hears("Done.")
        await chat.sees_reaction("🎉", on=asked)
    told = "\n".join(part.text for part in agent.turns[1].parts)
    assert "is in the chat around this thread" in told
    assert f'"message_id":"{asked}","handle":"m1"' in "\n".join(part.text for part in agent.turns[0].parts)


async def test_a_draft_is_opened_in_the_new_thread():
    """CH-2, DE-20: its opening opens the thread, its edits and its end are changes there."""
    channel = FakeThreads()
    shown = asyncio.Event()

    async def until_shown() -> None:
        await channel.until(lambda: any(each.author == "bot" for each in channel.messages.values()))
        shown.set()

    agent = ScriptedAgent(["Let me", until_shown, " see."])
    async with conversation(agent, channel, lab(streaming="edits")) as chat:
        asked = await channel.says("@bot why?", mention=True, **LAB)
        await channel.until(lambda: any(each.text == "Let me see." for each in channel.messages.values()))
        answer = await chat.hears("Let me see.")
        assert (answer.thread, len(answer.frames) > 1, shown.is_set()) == (asked, True, True)
    assert set(channel.created) == {asked}


async def test_a_failure_is_told_in_the_thread():
    """CH-2: what the gateway says itself about such a message opens the thread too."""
    channel = FakeThreads()
    async with conversation(ScriptedAgent(), channel, lab()) as chat:
        asked = await channel.says("@bot why?", mention=True, **LAB)
        assert (await chat.hears("scripted has come to the end of its script.")).thread == asked


async def test_silence_opens_nothing():
    """CH-2: a thread comes with words, not with the turn."""
    channel = FakeThreads()
    agent = ScriptedAgent('<actions><react emoji="+1" /></actions>NO_REPLY')
    async with conversation(agent, channel, lab()) as chat:
        asked = await channel.says("@bot thanks", mention=True, **LAB)
        await chat.sees_reaction("👍", on=asked)
    assert channel.created == []


async def test_stop_in_the_chat_reaches_a_turn_whose_thread_is_not_there():
    """IN-70: until the thread is open there is no other place to say it."""
    channel = FakeThreads()
    agent = ScriptedAgent([never])
    async with conversation(agent, channel, lab()) as chat:
        await channel.says("@bot why?", mention=True, **LAB)
        await chat.asked(agent, 1)
        await channel.says("/stop", **LAB)
        assert (await chat.hears("Agent was aborted.")).thread is None
    assert channel.created == []


async def test_a_thread_that_cannot_be_opened():
    """CH-2, CH-13: all chunks go to the chat instead, as a reply to the message; it is in the log."""
    channel = FakeThreads(limits=None)
    channel.limits = type(channel.limits)(40)
    channel.refuse_threads = "no permission to create threads"
    agent = ScriptedAgent("The first paragraph of it.\n\nThe second paragraph of it.")
    async with conversation(agent, channel, lab()) as chat:
        asked = await channel.says("@bot why?", mention=True, **LAB)
        first = await chat.hears("The first paragraph of it.")
        second = await chat.hears("The second paragraph of it.")
        assert (first.thread, first.reply_to, second.thread) == (None, asked, None)
        await chat.rests()
        assert (await chat.gateway.store.message(Route("fake", "lab"), first.id)) is not None
        assert (await chat.gateway.store.message(Route("fake", "lab", asked), first.id)) is None
    assert len(channel.created) == 1, "the second chunk follows the first"


@pytest.mark.parametrize("outcome", [RetryAfter(0.0, "not taken"), Unknown("reset")])
async def test_a_restart_between_opening_and_sending_joins(tmp_path, outcome):
    """CH-2, DU-2: the next process opens the same thread again, which means that it is there, and answers in it."""
    channel = FakeThreads()
    machine = Machine(tmp_path, lab(on_unknown="resend", streaming="off"), channel)
    async with machine.running(ScriptedAgent("Let me see."), killed=True) as gateway:
        channel.fails(*[outcome] * 50)
        asked = await channel.says("@bot why?", mention=True, **LAB)
        await until(gateway, lambda census: census.parts.get("retry", 0) + census.parts.get("unknown", 0) > 0)
    channel._failing.clear()
    assert channel.threads == {asked: "why?"}
    agent = ScriptedAgent("I go on.")
    async with machine.running(agent) as gateway:
        assert (await machine.chat.hears("Let me see.")).thread == asked
        await until(gateway, lambda census: census.parts == {"sent": 1})
        await channel.says("and?", thread=asked, **LAB)
        assert (await machine.chat.hears("I go on.")).thread == asked
    assert agent.turns[0].session.endswith(f"thread:{asked}")


async def test_messages_that_wait_go_on_in_their_thread_after_a_restart(tmp_path):
    """CH-2, TU-10: routed to the thread before the process died, run there by the next one."""
    channel = FakeThreads()
    machine = Machine(tmp_path, lab(), channel)
    async with machine.running(ScriptedAgent([never]), killed=True) as gateway:
        asked = await channel.says("@bot why?", mention=True, **LAB)
        await until(gateway, lambda census: census.inputs.get("taken") == 1)
    agent = ScriptedAgent("Let me see.")
    async with machine.running(agent):
        assert (await machine.chat.hears("Let me see.")).thread == asked
    assert agent.turns[0].session.endswith(f"thread:{asked}")


async def test_waiting_in_line_through_a_restart(tmp_path):
    """CH-2: also one that had not begun; people see its words in the thread that it opens."""
    channel = FakeThreads()
    machine = Machine(tmp_path, lab(group={}), channel)
    settings = machine.settings
    async with machine.running(ScriptedAgent([never], [never]), killed=True) as gateway:
        await gateway.engine.lanes.drain(0)  # nothing begins any more
        asked = await channel.says("@bot why?", mention=True, **LAB)
        await until(gateway, lambda census: census.inputs.get("waiting") == 1)
    assert settings is machine.settings
    async with machine.running(ScriptedAgent("Let me see.")):
        assert (await machine.chat.hears("Let me see.")).thread == asked


class FakeForum(FakeMessenger):
    """A chat in which every message opens a new place, under an id that is known only then."""

    def opens_place(self, route: Route) -> bool:
        return route.chat == "forum" and route.thread is None

    async def send(self, part):
        outcome = await super().send(part)
        if isinstance(outcome, Delivered) and self.opens_place(part.route):
            self.messages[outcome.message].thread = f"post-{outcome.message}"
            return Delivered(outcome.message, Route(self.name, "forum", f"post-{outcome.message}"))
        return outcome


async def test_what_follows_goes_to_the_place_that_was_opened():
    """CH-2: the second message of an answer goes where the first one stands; people who answer there find the agent."""
    channel = FakeForum()
    channel.limits = type(channel.limits)(40)
    agent = ScriptedAgent("The first paragraph of it.\n\nThe second paragraph of it.", "I am here.")
    async with conversation(agent, channel, lab()) as chat:
        await channel.says("@bot open a post", mention=True, chat="forum", kind="group")
        first = await chat.hears("The first paragraph of it.")
        second = await chat.hears("The second paragraph of it.")
        place = f"post-{first.id}"
        assert (first.thread, second.thread) == (place, place)
        await channel.says("anybody here?", chat="forum", kind="group", thread=place)
        assert (await chat.hears("I am here.")).thread == place
