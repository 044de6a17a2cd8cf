"""Somebody types one thought in several messages (IN-76)."""

from msgspec.structs import replace

from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.events import Attachment
from rejoinder.inbound.settings import InboundDebounce
from rejoinder.testing import ScriptedAgent, conversation
from tests.conversations.agents import said

LONG = 3_600_000  # milliseconds in which no test ends
PICTURE = Attachment("1", "a.png", "image/png")


def waiting(ms: int) -> Settings:
    return Settings(messages=MessagesSettings(inbound=InboundDebounce(by_channel={"fake": ms})))


async def test_what_is_typed_in_one_go_is_one_message():
    """IN-76: after the wait, together; each of them can still be replied to."""
    agent = ScriptedAgent("[[reply_to:m1]]\nYes.")
    async with conversation(agent, settings=waiting(30)) as chat:
        first = await chat.says("can you")
        await chat.says("help me?")
        assert (await chat.hears("Yes.")).reply_to == first
    assert [said(turn) for turn in agent.turns] == [["can you\nhelp me?"]]


async def test_a_command_lets_nobody_wait():
    """IN-76: it flushes what came before it, and is obeyed at once."""
    agent = ScriptedAgent("Hello.")
    async with conversation(agent, settings=waiting(LONG)) as chat:
        await chat.says("hello")
        await chat.says("/whoami")
        heard = {(await chat.hears()).text.strip() for _ in range(2)}
    assert "Hello." in heard
    assert len(agent.turns) == 1


async def test_a_file_lets_nobody_wait():
    """IN-76: what was typed before it goes first, each a message of its own."""
    agent = ScriptedAgent("Hm.", "A picture!")
    settings = replace(waiting(LONG), messages=replace(waiting(LONG).messages, queue=QueueSection(mode="queue")))
    async with conversation(agent, settings=settings) as chat:
        await chat.says("look")
        await chat.channel.says("this", attachments=(PICTURE,))
        await chat.hears("Hm.")
        await chat.hears("A picture!")
    assert [said(turn) for turn in agent.turns] == [["look"], ["this"]]


async def test_nobody_waits_for_somebody_else():
    """IN-76: the wait is a sender's own."""
    agent = ScriptedAgent("Bob has a picture.", "Ann is done.", "And here.")
    async with conversation(agent, settings=waiting(LONG)) as chat:
        await chat.says("one moment")
        await chat.channel.says("look", sender="bob", chat="other", attachments=(PICTURE,))
        await chat.hears("Bob has a picture.")
        assert len(agent.turns) == 1
        await chat.channel.says("here", attachments=(PICTURE,))
        await chat.hears("Ann is done.")
        await chat.hears("And here.")
