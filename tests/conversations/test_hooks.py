"""Hooks beside a conversation: told in order, and never in the way."""

import asyncio

import pytest

from rejoinder import plugins
from rejoinder.agents.base import Failed
from rejoinder.errors import BadUse
from rejoinder.events import MessageReceived, ReplySent, SessionEnded, SessionStarted, TurnEnded
from rejoinder.runtime.hooks import HOOKS
from rejoinder.testing import ScriptedAgent, conversation
from tests.conversations.settings import queueing
from tests.conversations.test_plugged_in import plug_in


class Told(list):
    def __init__(self):
        super().__init__()
        self.more = asyncio.Event()

    async def until(self, name):
        while name not in names(self):
            self.more.clear()
            await self.more.wait()


@pytest.fixture
def heard(monkeypatch):
    """What a package that subscribed to everything is told."""
    told = Told()

    async def listen(happening):
        told.append(happening)
        told.more.set()

    plug_in(monkeypatch, "rejoinder.hooks", HOOKS=dict.fromkeys(HOOKS, listen))
    return told


async def test_the_end_of_a_turn_tells_of_all_its_messages(heard):
    """IN-8: who watches knows of each message that it has been dealt with."""
    go_on = asyncio.Event()
    async with conversation(ScriptedAgent(["One.", go_on.wait], "Both."), settings=queueing("collect")) as chat:
        await chat.says("one")
        await chat.sees("One.")
        earlier, last = [await chat.says(text) for text in ("two", "three")]
        go_on.set()
        await chat.hears("One.")
        await chat.hears("Both.")
    assert [(each.message, each.also) for each in heard if isinstance(each, TurnEnded)][1:] == [(last, (earlier,))]


def names(heard):
    """What was told; whether an answer is shown before it is complete depends on how fast the machine is."""
    return [name for name in (type(happening).__name__ for happening in heard) if name != "ReplyStarted"]


async def test_a_package_hears_what_happens(heard):
    """IN-8: each happening once; a message that came twice is received once."""
    async with conversation(ScriptedAgent("Hi.", "Anew.")) as chat:
        await chat.says("hello", event="e1")
        await chat.says("hello", event="e1")
        await chat.hears("Hi.")
        await heard.until("TurnEnded")
        await chat.says("/new again")
        await chat.hears("New session.")
        await chat.hears("Anew.")
    assert names(heard) == [
        *("MessageReceived", "MessageDecided", "SessionStarted", "ReplySent", "TurnEnded"),
        *("MessageReceived", "MessageDecided", "SessionEnded", "SessionStarted", "ReplySent", "ReplySent", "TurnEnded"),
    ]
    received, ended = (next(each for each in heard if isinstance(each, kind)) for kind in (MessageReceived, TurnEnded))
    assert (received.message.text, ended.outcome, ended.message) == ("hello", "answered", received.message.message_id)
    assert [each.text for each in heard if isinstance(each, ReplySent)] == ["Hi.", "New session.", "Anew."]
    assert next(each.why for each in heard if isinstance(each, SessionEnded)) == "asked"


async def test_a_session_starts_once(heard):
    """A choice or a turn begins it; what was only asked does not."""
    async with conversation(ScriptedAgent("Hi.")) as chat:
        await chat.says("/status")
        await chat.hears()
        assert not [each for each in heard if isinstance(each, SessionStarted)]
        await chat.says("/think high")
        await chat.hears("Thinking: high.")
        await chat.says("hello")
        await chat.hears("Hi.")
    assert names(heard).count("SessionStarted") == 1


async def test_a_turn_that_fails_says_why(heard):
    async with conversation(ScriptedAgent([Failed("refused", "No.")])) as chat:
        await chat.says("hello")
        await chat.hears("No.")
    assert [(each.outcome, each.why) for each in heard if isinstance(each, TurnEnded)] == [("failed", "refused")]


@pytest.mark.parametrize(
    "said", ["<no-reply/>", "NO_REPLY", "Not for me.\n\nNO_REPLY", '<react emoji="eyes" />\nNO_REPLY']
)
async def test_a_turn_in_which_the_agent_stays_silent_says_so(heard, said):
    """OD-41: hooks and `/why` agree that nothing was said, also when words were taken back or a reaction was left."""
    async with conversation(ScriptedAgent(said)) as chat:
        await chat.says("hello")
        await heard.until("TurnEnded")
        await chat.says("/why")
        why = await chat.hears()
    assert [each.outcome for each in heard if isinstance(each, TurnEnded)] == ["silent"]
    assert "read it and chose to stay silent." in why.text.partition("\n")[0]


async def test_an_empty_answer_is_no_chosen_silence(heard):
    """The person is told that there was no response, so the turn counts as answered."""
    async with conversation(ScriptedAgent("")) as chat:
        await chat.says("hello")
        assert "no response" in (await chat.hears()).text
        await heard.until("TurnEnded")
    assert [each.outcome for each in heard if isinstance(each, TurnEnded)] == ["answered"]


async def test_a_hook_that_hangs_holds_up_nobody(monkeypatch):
    """IN-8: the answer is there while the hook still waits."""
    go, reached = asyncio.Event(), asyncio.Event()

    async def hang(happening):
        reached.set()
        await go.wait()

    plug_in(monkeypatch, "rejoinder.hooks", HOOKS={"message_received": hang, "turn_ended": hang})
    async with conversation(ScriptedAgent("Hi.", "Ho.")) as chat:
        await chat.says("hello")
        await chat.hears("Hi.")
        await chat.says("hello")
        await chat.hears("Ho.")
        assert reached.is_set()
        go.set()


def test_a_hook_nobody_tells_is_an_error_at_the_start(monkeypatch):
    from rejoinder.app import Gateway
    from rejoinder.config.schema import Settings

    plug_in(monkeypatch, "rejoinder.hooks", HOOKS={"turn_over": print})
    with pytest.raises(BadUse, match="no hook called 'turn_over'"):
        Gateway(Settings(), agents={}, channels=[])
    assert plugins.names("hook") == ["theirs"]
