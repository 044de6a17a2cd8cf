"""A person and three agents in one room: who answers whom, who hears what, what one hands to another."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from rejoinder.app import Gateway
from rejoinder.channels.base import RetryAfter
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, DirectivesSettings, Settings
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing import Chat, FakeChannel, FakeMessenger, FakeRoom, ScriptedAgent, patience
from rejoinder.testing.patience import PATIENCE
from tests.conversations.agents import said, told
from tests.conversations.restarting import until
from tests.conversations.settings import queueing

ADA, BO, CLEO = "ada", "bo", "cleo"
ROOM = {"chat": "room", "kind": "group"}


def settings(*agents, grants=(), **more) -> Settings:
    here = {"agents": tuple(a.name for a in agents), "owners": ("ann",), "response_prefix": "", **more}
    common = CommonChannelSettings(groups="open", **here)
    return Settings(
        channels={"fake": ConfiguredChannel("fake", common, {})},
        directives=DirectivesSettings(allow=grants),
        messages=queueing("collect").messages,
    )


@asynccontextmanager
async def room(*agents, channel=None, grants=(), store="sqlite::memory:", **more):
    channel = channel or FakeRoom(*(agent.name for agent in agents))
    made = settings(*agents, grants=grants, **more)
    gateway = Gateway(made, agents={agent.name: agent for agent in agents}, channels=[channel], store=store)
    async with gateway, Tasks() as tasks:
        tasks.start("serve", gateway.serve())
        chat = Chat(channel, tasks, gateway)
        yield chat
        await chat.ends()


def context(turn) -> dict:
    """The sender context of a turn's last message."""
    block = [part.text for part in turn.parts if "sender_context" in part.text][-1]
    return json.JSONDecoder().raw_decode(block, block.index("{"))[0]


class Replying(ScriptedAgent):
    """Puts the handle of the message it was asked by where its script says HERE."""

    async def run(self, turn):
        async for event in super().run(turn):
            text = getattr(event, "text", None)
            yield type(event)(text.replace("HERE", context(turn)["handle"])) if text else event


async def test_a_review_with_the_reply_lines_of_a_conversation():
    """OD-21, IN-21, IN-25: A answers, B replies to A's message, C to the person, A to B."""
    analysed = asyncio.Event()
    ada = Replying(
        "I found three issues. @bo, do you agree?", "[[reply_to:HERE]]\nGood point, I take it back.", name=ADA
    )
    bo = Replying("[[reply_to:HERE]]\nOn two of them. @ada, the third is none.", name=BO)
    cleo = Replying([analysed.wait, "[[reply_to:HERE]]\nHere is my analysis."], name=CLEO)
    async with room(ada, bo, cleo) as chat:
        asked = await chat.channel.says("@ada @cleo review this", mention=(ADA, CLEO), **ROOM)
        first = await chat.hears("I found three issues. @bo, do you agree?")
        second = await chat.hears("On two of them. @ada, the third is none.")
        last = await chat.hears("Good point, I take it back.")
        analysed.set()
        third = await chat.hears("Here is my analysis.")
    assert [each.agent for each in (first, second, third, last)] == [ADA, BO, CLEO, ADA]
    assert [each.reply_to for each in (first, second, third, last)] == [None, first.id, asked, second.id]
    assert (len(ada.turns), len(bo.turns), len(cleo.turns)) == (2, 1, 1)


async def test_each_knows_who_it_is_and_what_was_said_before():
    """IN-25, IN-32, TU-30: the receiver is the agent; what woke another is history, with author and handle."""
    ada, bo, cleo = (ScriptedAgent(text, name=n) for text, n in [("Yes. @bo?", ADA), ("Sure.", BO), ("Hm.", CLEO)])
    async with room(ada, bo, cleo) as chat:
        await chat.channel.says("Shall we release?", sender="ben", **ROOM)
        await chat.hears("Yes. @bo?")
        await chat.hears("Sure.")
        await chat.rests()
        await chat.channel.says("@cleo and you?", mention=CLEO, **ROOM)
        await chat.hears("Hm.")
    assert [context(agent.turns[0])["receiver_id"] for agent in (ada, bo, cleo)] == [ADA, BO, CLEO]
    assert context(bo.turns[0])["sender_id"] == ADA
    assert context(bo.turns[0])["is_bot"]
    assert "Shall we release?" in told(bo.turns[0])
    for text in ("Shall we release?", "Yes. @bo?", "Sure.", '"m1"', '"m2"', '"m3"'):
        assert text in told(cleo.turns[0])
    assert "Other agents in this room: @bo, @cleo" in ada.turns[0].system


async def test_history_survives_a_restart_for_each_of_them(tmp_path):
    """IN-32, DU-2: who was not asked before the restart hears it after it, who was asked does not."""
    url, channel = f"sqlite:{tmp_path / 'store.db'}", FakeRoom(ADA, BO)
    ada, bo = ScriptedAgent("Yes.", name=ADA), ScriptedAgent(name=BO)
    async with room(ada, bo, channel=channel, store=url) as chat:
        await chat.channel.says("Shall we release?", **ROOM)
        await chat.hears("Yes.")
        await chat.rests()
    ada, bo = ScriptedAgent("Still.", name=ADA), ScriptedAgent("Fine.", name=BO)
    async with room(ada, bo, channel=channel, store=url) as chat:
        chat._heard = set(channel.messages)
        await chat.channel.says("@all so?", mention=(ADA, BO), **ROOM)
        assert {(await chat.hears()).text, (await chat.hears()).text} == {"Still.", "Fine."}
    assert "Shall we release?" in told(bo.turns[0])
    assert "Yes." in told(bo.turns[0])
    assert "Shall we release?" not in told(ada.turns[0])


async def test_a_reply_wakes_no_bot_and_a_person_s_reply_does():
    """IN-21, IN-25."""
    ada, bo = ScriptedAgent("First.", "Again.", name=ADA), ScriptedAgent("[[reply_to:m2]]\nNoted.", name=BO)
    async with room(ada, bo) as chat:
        await chat.channel.says("hello", **ROOM)
        first = await chat.hears("First.")
        await chat.channel.says("@bo look", mention=BO, **ROOM)
        assert (await chat.hears("Noted.")).reply_to == first.id
        await chat.rests()
        assert len(ada.turns) == 1
        await chat.channel.says("why?", reply_to=first.id, **ROOM)
        await chat.hears("Again.")
    assert len(bo.turns) == 1


async def test_signs_have_the_agent_s_name():
    """OD-50: one reacts to another's message and stays silent; who types is told."""
    ada = ScriptedAgent("Done. @bo", name=ADA)
    bo = ScriptedAgent('<actions><react emoji="tada"/></actions>\nNO_REPLY', name=BO)
    async with room(ada, bo) as chat:
        await chat.channel.says("hello", **ROOM)
        done = await chat.hears("Done. @bo")
        await chat.sees_reaction("🎉", on=done.id)
    assert (BO, done.id, "🎉") in chat.channel.reacted
    assert {*chat.channel.typists} <= {ADA, BO}


async def test_our_own_agents_write_before_people_s_eyes():
    """DE-21: an agent of ours is no bot of somebody else's: drafts stay on."""
    go = asyncio.Event()
    ada, bo = ScriptedAgent("Ready. @bo", name=ADA), ScriptedAgent(["I am writing", go.wait, " this."], name=BO)
    async with room(ada, bo) as chat:
        await chat.channel.says("hello", **ROOM)
        await chat.hears("Ready. @bo")
        await chat.sees("I am writing")
        go.set()
        await chat.hears("I am writing this.")


async def test_two_write_at_the_same_time():
    """DE-20: nobody's words hold up another's."""
    one, two = asyncio.Event(), asyncio.Event()
    ada = ScriptedAgent(["One", one.wait, " two", two.wait, " three."], name=ADA)
    bo = ScriptedAgent(["Red", one.wait, " green", two.wait, " blue."], name=BO)
    async with room(ada, bo, wake="all") as chat:
        await chat.channel.says("count", **ROOM)
        await chat.sees("One")
        await chat.sees("Red")
        one.set()
        await chat.sees("One two")
        await chat.sees("Red green")
        two.set()
        assert {(await chat.hears()).text, (await chat.hears()).text} == {"One two three.", "Red green blue."}


@pytest.mark.parametrize("turns", [4, 5])
async def test_the_cap_counts_each_turn_once_and_tells_once(turns, tmp_path):
    """IN-23: so many turns in a row, whoever's; one notice; nobody goes on after a restart, until a person writes."""
    url, channel = f"sqlite:{tmp_path / 'store.db'}", FakeRoom(ADA, BO)
    ada = ScriptedAgent(*["@bo go on"] * 20, name=ADA)
    bo = ScriptedAgent(*["@ada go on"] * 20, name=BO)
    async with room(ada, bo, channel=channel, store=url, bot_turns=turns) as chat:
        await chat.channel.says("@ada talk", mention=ADA, **ROOM)
        for _ in range(turns):
            await chat.hears()
        await chat.hears(f"{turns} bot turns in a row: I am silent until a human writes.")
    assert len(ada.turns) + len(bo.turns) == turns
    ada, bo = ScriptedAgent("Hello.", name=ADA), ScriptedAgent(name=BO)
    async with room(ada, bo, channel=channel, store=url, bot_turns=turns) as chat:
        chat._heard = set(channel.messages)
        await chat.channel.says("@ada hey", sender=BO, bot=True, mention=ADA, **ROOM)
        await chat.rests()
        assert not ada.turns
        await chat.channel.says("@ada hey", mention=ADA, **ROOM)
        await chat.hears("Hello.")


HANDOFF = '<actions><handoff to="bo">Check the second.</handoff></actions>\nI looked at the first.'


@pytest.mark.parametrize("channel", [FakeRoom(ADA, BO), FakeChannel()], ids=["told by the room", "told by us"])
async def test_one_hands_over_to_another(channel):
    """OD-50, OD-52: with the grant, as a message behind the answer; the other has one turn of it."""
    ada, bo = ScriptedAgent(HANDOFF, name=ADA), ScriptedAgent("The second is fine.", name=BO)
    async with room(ada, bo, channel=channel, grants=("handoff",)) as chat:
        await chat.channel.says("check", **ROOM)
        await chat.hears("I looked at the first.")
        assert (await chat.hears("@bo Check the second.")).agent == ADA
        assert (await chat.hears("The second is fine.")).agent == BO
    assert [said(turn) for turn in bo.turns] == [["@bo Check the second."]]
    assert context(bo.turns[0])["sender_id"] == ADA
    assert "handoff" in ada.turns[0].system


class Slow(FakeMessenger):
    """A platform that does not answer for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = asyncio.Event()

    async def send(self, part):
        await self.answers.wait()
        return await super().send(part)


async def test_what_is_handed_over_is_not_taken_before_it_is_said(caplog):
    """OD-50: also when the gateway meanwhile looks what others have written to the store; and it is decided once."""
    ada, bo = ScriptedAgent(HANDOFF, name=ADA), ScriptedAgent("The second is fine.", name=BO)
    async with asyncio.timeout(PATIENCE), room(ada, bo, channel=Slow(), grants=("handoff",)) as chat:
        await chat.channel.says("check", **ROOM)
        await patience.until(lambda: ada.turns)
        for _ in range(5):
            await asyncio.sleep(0.02)
            chat.gateway.engines.changed()
        early = tuple(bo.turns)
        chat.channel.answers.set()
        await chat.hears("I looked at the first.")
        await chat.hears("@bo Check the second.")
        await chat.hears("The second is fine.")
    assert early == ()
    assert len(bo.turns) == 1
    assert "could not be decided" not in caplog.text


class Refusing(FakeMessenger):
    """A platform that takes nothing for a while."""

    refuses = True

    async def send(self, part):
        return RetryAfter(0.5, limited=True) if self.refuses else await super().send(part)


async def test_what_is_handed_over_is_answered_behind_the_words_that_do_it(tmp_path):
    """OD-50, DE-3, DU-13: also when those words were never said before a restart and cannot be said after it: the
    other is asked at once, and its answer waits for them."""
    store, channel = f"sqlite:{tmp_path / 'store.db'}", Refusing()
    ada, bo = ScriptedAgent(HANDOFF, name=ADA), ScriptedAgent("The second is fine.", name=BO)
    made = settings(ada, bo, grants=("handoff",), streaming="off")
    first = Gateway(made, agents={ADA: ada, BO: bo}, channels=[channel], store=store)
    async with asyncio.timeout(PATIENCE), first:
        first.tasks.start("serve", first.serve())
        await channel.says("check", **ROOM)
        await until(first, lambda census: census.parts == {"retry": 1, "planned": 1})
        await first.store.close()  # as by kill -9
        await first.tasks.close()
    assert not bo.turns
    second = Gateway(made, agents={ADA: ada, BO: bo}, channels=[channel], store=store)
    async with asyncio.timeout(PATIENCE), second:
        second.tasks.start("serve", second.serve())
        await until(second, lambda census: census.parts == {"retry": 1, "planned": 2})
        channel.refuses = False
        await channel.until(lambda: len(_of_us(channel)) == 3)
    assert _of_us(channel) == ["I looked at the first.", "@bo Check the second.", "The second is fine."]
    assert (len(ada.turns), len(bo.turns)) == (1, 1)


def _of_us(channel: FakeMessenger) -> list[str]:
    return [shown.text for shown in channel.messages.values() if shown.author == "bot"]


async def test_what_is_not_granted_is_not_handed_over():
    """OD-52: and not spoken of to the agent."""
    ada, bo = ScriptedAgent(HANDOFF, name=ADA), ScriptedAgent(name=BO)
    async with room(ada, bo) as chat:
        await chat.channel.says("check", **ROOM)
        await chat.hears("I looked at the first.")
    assert not bo.turns
    assert "handoff" not in ada.turns[0].system


async def test_two_that_hand_over_for_ever_stop():
    """IN-23: what is handed over counts as what is said."""
    ada = ScriptedAgent(*['<actions><handoff to="bo">Yours.</handoff></actions>'] * 20, name=ADA)
    bo = ScriptedAgent(*['<actions><handoff to="ada">Yours.</handoff></actions>'] * 20, name=BO)
    async with room(ada, bo, channel=FakeChannel(), grants=("handoff",), bot_turns=4) as chat:
        await chat.channel.says("go", **ROOM)
        for _ in range(4):
            await chat.hears()
        await chat.hears("4 bot turns in a row: I am silent until a human writes.")
    assert len(ada.turns) + len(bo.turns) == 4
