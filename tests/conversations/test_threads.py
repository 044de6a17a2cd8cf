"""Threads: what an agent is told of one in its first turn there, and what it can answer from it (TU-31, OD-52)."""

import json

from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, Settings
from rejoinder.events import Chat, EarlierMessage, Inbound, Sender
from rejoinder.testing import FakeChannel, ScriptedAgent, conversation

LAB = {"chat": "lab", "kind": "group"}
OPEN = Settings(channels={"fake": ConfiguredChannel("fake", CommonChannelSettings(groups="open"), {})})


class Telling(FakeChannel):
    """Can be asked for the past of a thread."""

    def __init__(self, *past: EarlierMessage) -> None:
        super().__init__()
        self.past = past
        self.asked: list[tuple[str | None, str]] = []

    async def thread_before(self, route, message, limit):
        self.asked.append((route.thread, message))
        return self.past


def block(turn, name):
    """What a block of this name says, if there is one."""
    found = [part.text for part in turn.parts if part.text.startswith(f"<untrusted_{name}-")]
    return json.loads(found[0].split("\n")[1]) if found else None


def texts(turn):
    return [(said["text"], said["author"], said["message_id"]) for said in block(turn, "history") or ()]


async def test_the_history_of_a_thread_is_fetched_once():
    """TU-31: for the first turn there, each message with author, id and handle; what was overheard is told once."""
    channel = Telling(
        EarlierMessage("77", "zoe", "Zoe", "long ago"), EarlierMessage("78", "clock", "Clock", "dong", is_bot=True)
    )
    agent = ScriptedAgent("[[reply_to:77]]\nI see.", "Yes.")
    async with conversation(agent, channel, OPEN) as chat:
        heard = await channel.says("not for the bot", sender="bob", thread="70", **LAB)
        channel.past += (EarlierMessage(heard, "bob", "bob", "not for the bot"),)
        first = await channel.says("@bot and?", mention=True, thread="70", **LAB)
        assert (await chat.hears("I see.")).reply_to == "77"
        await channel.says("@bot sure?", mention=True, thread="70", **LAB)
        await chat.hears("Yes.")
    one, two = agent.turns
    assert channel.asked == [("70", first)]
    assert texts(one) == [("long ago", "Zoe", "77"), ("dong", "Clock", "78"), ("not for the bot", "bob", heard)]
    assert len({said["handle"] for said in block(one, "history")}) == 3
    assert texts(two) == []


async def test_a_platform_that_cannot_tell_it_delays_nothing(caplog):
    """TU-31: the turn comes without the history."""

    class Broken(Telling):
        async def thread_before(self, route, message, limit):
            raise RuntimeError("broken")

    agent = ScriptedAgent("I see.")
    async with conversation(agent, Broken(), OPEN) as chat:
        await chat.channel.says("@bot and?", mention=True, thread="70", **LAB)
        await chat.hears("I see.")
    assert texts(agent.turns[0]) == []
    assert "failed while reading what was said in 70" in caplog.text


async def test_the_root_is_known_from_the_chat():
    """TU-31, OD-52: where a thread has the id of the message it hangs under, the index knows that message."""
    agent = ScriptedAgent('[[reply_to:root]]\n<actions><react emoji="👍" message="m2"/></actions>Fine.')
    async with conversation(agent, settings=OPEN) as chat:
        root = await chat.channel.says("look at this", sender="bob", **LAB)
        await chat.channel.says("@bot well?", mention=True, thread=root, **LAB)
        assert (await chat.hears("Fine.")).reply_to == root
        await chat.sees_reaction("👍", on=root)
    starter = {"text": "look at this", "author": "bob", "handle": "m2", "message_id": root}
    assert block(agent.turns[0], "thread_starter") == starter


async def test_the_first_turn_is_not_the_first_message():
    """TU-31: a thread that goes on in the session of its chat may begin with a command."""
    agent = ScriptedAgent("Hello.", "Fine.", "Still.")
    async with conversation(agent, settings=OPEN) as chat:
        root = await chat.says("hello")
        await chat.hears("Hello.")
        await chat.channel.says("/think high", thread=root)
        await chat.hears("Thinking: high.")
        for text, answer in (("well?", "Fine."), ("and now?", "Still.")):
            await chat.channel.says(text, thread=root)
            await chat.hears(answer)
    told = [block(turn, "thread_starter") for turn in agent.turns]
    assert [said and said["text"] for said in told] == [None, "hello", None]


async def test_a_thread_reaches_no_other_thread():
    """OD-52: only its own messages, and those of the chat it hangs under."""
    agent = ScriptedAgent("[[reply_to:9001]]\nNo.")
    async with conversation(agent, settings=OPEN) as chat:
        assert await chat.channel.says("elsewhere", sender="bob", thread="60", **LAB) == "9001"
        await chat.channel.says("@bot well?", mention=True, thread="70", **LAB)
        assert (await chat.hears("No.")).reply_to is None
        await chat.reads_note("reply_to was denied: there is no message '9001' in this chat")


async def test_a_thread_under_the_agents_own_message_is_its_own():
    """IN-22: there people need not mention it, before it has said a word in the thread; elsewhere they do."""
    agent = ScriptedAgent("Look.", "Yes?")
    async with conversation(agent, settings=OPEN) as chat:
        await chat.channel.says("@bot well?", mention=True, **LAB)
        ours = await chat.hears("Look.")

        async def says(event: str, starter: EarlierMessage) -> None:
            where = {"chat": Chat("lab", "group"), "thread": starter.message_id, "thread_starter": starter}
            await chat.channel._deliver(Inbound("fake", event, event, sender=Sender("bob"), text="hm", **where))

        await says("e1", EarlierMessage("60", "bob", "Bob", "mine"))
        await says("e2", EarlierMessage(ours.id, "scripted", "scripted", "Look.", is_bot=True))
        await chat.hears("Yes?")
    assert block(agent.turns[1], "thread_starter")["text"] == "Look."
