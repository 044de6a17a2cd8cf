"""Commands of the platform's own menu and what is answered to one person alone (CH-3, CH-9)."""

from msgspec.structs import replace

from rejoinder.channels.base import RetryAfter
from rejoinder.events import Chat, Inbound, Invoked, Sender
from rejoinder.runtime.place.decision import NOT_YOURS
from rejoinder.testing import FakeThreads, ScriptedAgent, conversation
from tests.conversations.test_new_threads import LAB, lab


async def test_a_native_command_is_answered_to_the_person_alone():
    """CH-9, CH-3: with the options that were chosen, by the interaction; nobody else sees it."""
    channel = FakeThreads()
    async with conversation(ScriptedAgent(), channel, lab()):
        await channel.invokes("think", value="high")
        await channel.invokes("status")
        await channel.until(lambda: len(channel.ephemeral) == 2)
    (who, set_to), (_, status) = channel.ephemeral
    assert who == "ann"
    assert "high" in set_to
    assert "think high" in status
    assert not [shown for shown in channel.messages.values() if shown.author == "bot"]


async def test_options_come_by_name():
    """CH-9: one that is left out in the middle shifts no other, and one that does not fit is told."""
    channel = FakeThreads()
    async with conversation(ScriptedAgent(), channel, lab()):
        await channel.invokes("allowlist", change="add", id="12")
        await channel.invokes("allowlist", id="12")
        await channel.invokes("allowlist", change="perhaps")
        await channel.invokes("nothing-like-it")
        await channel.until(lambda: len(channel.ephemeral) == 4)
    said = [text for _, text in channel.ephemeral]
    assert said[0].startswith("12 is on the allow-list")
    assert said[1].startswith("On the list of fake")
    assert said[2].startswith("Usage: /allowlist")
    assert said[3] == "There is no command /nothing-like-it here."


async def test_a_command_for_the_agent_is_answered_to_all_by_the_interaction():
    """CH-9: `/new` with a prompt runs a turn; its answer uses the platform's own way."""
    channel = FakeThreads()
    agent = ScriptedAgent("Hello again.")
    async with conversation(agent, channel, lab()) as chat:
        token = await channel.invokes("new")
        await chat.hears("New session.")
        await chat.hears("Hello again.")
    assert set(channel.answered) == {token}
    assert channel.ephemeral == []


async def test_after_its_expiry_the_ordinary_way_is_taken():
    """CH-3: what is for all is said without the interaction; what was for one person is not shown to all."""
    channel = FakeThreads()
    channel.valid_for = 0.0
    async with conversation(ScriptedAgent("Hello again."), channel, lab()) as chat:
        await channel.invokes("new")
        await chat.hears("New session.")
        await chat.hears("Hello again.")
        await channel.invokes("status")
        await chat.rests()
        assert await chat.gateway.store.count_parts("dead") == 0
    assert (channel.answered, channel.ephemeral) == ([], [])


async def test_somebody_who_may_not_is_told_alone():
    """CH-9, IN-14: the platform waits for an answer, so there is one, which tells nothing."""
    channel = FakeThreads()
    async with conversation(ScriptedAgent(), channel, lab()):
        await channel.invokes("restart", sender="eve")
        await channel.until(lambda: bool(channel.ephemeral))
    assert channel.ephemeral == [("eve", NOT_YOURS)]


async def test_the_context_survives_a_platform_that_is_away():
    """CH-3: it is a part of the row, and so of every try."""
    channel = FakeThreads()
    async with conversation(ScriptedAgent(["Hello again."]), channel, lab(streaming="off")) as chat:
        channel.fails(RetryAfter(0.01, "away"))
        token = await channel.invokes("new")
        await chat.hears("New session.")
        await chat.hears("Hello again.")
    assert channel.answered == [token] * 3


async def test_ephemeral_works_on_answers_to_interactions_only():
    """CH-29: elsewhere the agent is not told of it, and is told what became of it."""
    channel = FakeThreads()
    agent = ScriptedAgent("[[ephemeral]]\nOne.", "Two.", "[[ephemeral]]\nThree.")
    async with conversation(agent, channel, lab()) as chat:
        asked = await channel.says("@bot one", mention=True, **LAB)
        assert (await chat.hears("One.")).thread == asked
        await channel.says("two", thread=asked, **LAB)
        await chat.hears("Two.")
        await channel.invokes("new")
        await chat.hears("New session.")
        await channel.until(lambda: bool(channel.ephemeral))
    first, second, third = agent.turns
    assert "[[ephemeral]]" not in first.system
    assert "it works only on answers to" in "\n".join(part.text for part in second.parts)
    assert "[[ephemeral]]" in third.system
    assert channel.ephemeral == [("ann", "Three.")]


async def test_models_are_suggested_while_they_are_typed():
    """CH-9: to people who may choose one, those that fit."""
    channel = FakeThreads()
    large = tuple(f"large-{number}" for number in range(30))  # more than Discord shows, which is Discord's affair

    class Offering(ScriptedAgent):
        async def list_models(self):
            return ("small-1", *large)

    async with conversation(Offering(), channel, lab()) as chat:
        await channel.until(lambda: channel.listens)
        typed = Inbound("fake", "", "", Chat("lab", "group"), Sender("ann"), invoked=Invoked("model", {"value": "lar"}))
        assert await chat.gateway.engine.suggest(typed, "value") == large
        assert await chat.gateway.engine.suggest(typed, "nothing") == ()
        owners = replace(typed, invoked=Invoked("allowlist", {"change": "a"}))
        assert await chat.gateway.engine.suggest(owners, "change") == ("add",)
        assert await chat.gateway.engine.suggest(replace(owners, sender=Sender("eve")), "change") == ()
