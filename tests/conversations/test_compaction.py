"""A conversation that has become too long: what the agent is told, what people see."""

import asyncio

import pytest

from rejoinder.agents.base import Failed, Usage
from rejoinder.agents.tour import Settings as TourSettings
from rejoinder.config.agents import AgentDefaults
from rejoinder.config.schema import ConfiguredAgent, GatewaySettings, Settings
from rejoinder.runtime.session.notices import TIMED_OUT
from rejoinder.store.sql.reader import SqlShard
from rejoinder.testing import ScriptedAgent, conversation
from rejoinder.testing.patience import PATIENCE
from rejoinder.turns.compaction import FLUSH_PROMPT, SHORTENED
from tests.conversations.agents import said, told
from tests.conversations.restarting import Machine, until

FULL = Usage(900, 200, context_tokens=1100)
NOTICE = "The conversation was too long for the model and has been shortened."


class Forgetful(ScriptedAgent):
    """Can shorten its memory, as often as `works` says."""

    def __init__(self, *replies, works=(True, True, True)) -> None:
        super().__init__(*replies)
        self.log = []
        self._works = iter(works)

    async def run(self, turn):
        self.log.append(said(turn))
        async for event in super().run(turn):
            yield event

    async def compact(self, session, instructions="") -> bool:
        self.log.append(f"shortened {instructions}".strip())
        return next(self._works)


def limited(tokens: int | None = 1000, **defaults) -> Settings:
    return Settings(
        agent_defaults=AgentDefaults(context_tokens=tokens, **defaults),
        agents={"scripted": ConfiguredAgent("tour", TourSettings(startup_notes="Read NOTES.md first."))},
    )


async def test_a_full_context_is_shortened_after_the_answer():
    """TU-23, TU-29: one turn to write things down that nobody reads, then compaction; the next turn is told, once."""
    agent = Forgetful(["One.", FULL], "I wrote it down.", "Two.", "Three.")
    async with conversation(agent, settings=limited()) as chat:
        for text, heard in (("one", "One."), ("two", "Two."), ("three", "Three.")):
            await chat.says(text)
            await chat.hears(heard)
    assert agent.log == [["one"], [FLUSH_PROMPT], "shortened", ["two"], ["three"]]
    assert [SHORTENED in told(turn) for turn in agent.turns] == [False, False, True, False]
    assert "Read NOTES.md first." in told(agent.turns[2])


async def test_the_turn_for_memory_may_do_no_more_than_the_one_before_it():
    """IN-59, TU-23: what a session forbids is forbidden there too."""

    class Armed(Forgetful):
        async def answer(self, question, option) -> None:
            """It never asks."""

    agent = Armed(["One.", FULL], "I wrote it down.")
    async with conversation(agent, settings=limited()) as chat:
        await chat.says("/exec security=deny")
        await chat.hears("Exec: security=deny.")
        await chat.says("one")
        await chat.hears("One.")
        await chat.rests()
    assert [turn.permissions for turn in agent.turns] == ["deny", "deny"]


async def test_the_turn_for_memory_can_be_left_out():
    agent = Forgetful(["One.", FULL])
    async with conversation(agent, settings=limited(memory_flush=False)) as chat:
        await chat.says("one")
        await chat.hears("One.")
    assert agent.log == [["one"], "shortened"]


async def test_without_a_budget_nothing_happens():
    agent = Forgetful(["One.", FULL])
    async with conversation(agent, settings=limited(None)) as chat:
        await chat.says("one")
        await chat.hears("One.")
    assert agent.log == [["one"]]


@pytest.mark.parametrize("flush", [["Written."], [Failed("overloaded", "Later.")]])
async def test_what_does_not_work_is_tried_again_after_the_next_turn(flush, caplog):
    """TU-23: the turn for memory comes once, and its failure stops nothing."""
    agent = Forgetful(["One.", FULL], flush, ["Two.", FULL], works=(False, True))
    async with conversation(agent, settings=limited()) as chat:
        await chat.says("one")
        await chat.hears("One.")
        await chat.says("two")
        await chat.hears("Two.")
    assert agent.log == [["one"], [FLUSH_PROMPT], "shortened", ["two"], "shortened"]
    assert "could not shorten" in caplog.text


async def test_who_is_verbose_is_told_before_the_next_answer():
    """TU-29: new session, compaction."""
    agent = Forgetful(["One.", FULL], "NO_REPLY", "Two.")
    async with conversation(agent, settings=limited(verbose_default="on")) as chat:
        await chat.says("one")
        await chat.hears("This is a new session.\n\nOne.")
        await chat.says("two")
        await chat.hears(f"{NOTICE}\n\nTwo.")


async def test_compacting_by_hand_and_by_need_are_told_too():
    """TU-23, TU-29: `/compact`, and an overflow that was repaired."""
    agent = Forgetful("One.", "Two.", [Failed("context_overflow", "Too long.")], "Three.", "Four.")
    async with conversation(agent, settings=limited(None)) as chat:
        await chat.says("one")
        await chat.hears("One.")
        await chat.rests()
        await chat.says("/compact")
        await chat.hears()
        for text, heard in (("two", "Two."), ("three", "Three."), ("four", "Four.")):
            await chat.says(text)
            await chat.hears(heard)
    assert [SHORTENED in told(turn) for turn in agent.turns] == [False, True, False, False, True]


SHORTENED_BY_HAND = "The conversation has been shortened."


class Slow(Forgetful):
    """Takes its time to shorten: until it is let go."""

    def __init__(self, *replies) -> None:
        super().__init__(*replies)
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    async def compact(self, session) -> bool:
        self.begun.set()
        await self.go.wait()
        return await super().compact(session)


async def test_compacting_by_hand_waits_for_the_turns_before_it_and_is_before_those_after_it():
    """TU-1, TU-23: it is a turn of the lane, in its order; the turn after it is told."""
    go = asyncio.Event()
    agent = Forgetful([go.wait, "One."], "Two.")
    async with conversation(agent, settings=limited(None)) as chat:
        await chat.says("one")
        await chat.asked(agent, 1)
        await chat.says("/compact")
        await chat.says("two")
        go.set()
        for heard in ("One.", SHORTENED_BY_HAND, "Two."):
            await chat.hears(heard)
    assert agent.log == [["one"], "shortened", ["two"]]
    assert SHORTENED in told(agent.turns[1])


async def test_who_says_stop_ends_a_compaction_at_once():
    """TU-23, IN-70: nothing of the chat waits for the agent; the next prompt tells of no run that was aborted."""
    agent = Slow("One.", "Two.")
    async with conversation(agent, settings=limited(None)) as chat:
        await chat.says("one")
        await chat.hears("One.")
        await chat.says("/compact")
        await asyncio.wait_for(agent.begun.wait(), PATIENCE)
        await chat.says("/whoami")
        assert "ann" in (await chat.hears()).text
        await chat.says("/stop")
        await chat.hears("Agent was aborted.")
        await chat.says("two")
        await chat.hears("Two.")
    assert agent.log == [["one"], ["two"]]
    assert SHORTENED not in told(agent.turns[1])
    assert "abort" not in told(agent.turns[1])


async def test_a_compaction_takes_nothing_away_that_waits_to_be_told():
    """TU-23, IN-58, IN-71: a change of model and an aborted run are told to the next turn, not to nobody."""
    agent = Forgetful([asyncio.Event().wait], "Two.")
    async with conversation(agent, settings=limited(None)) as chat:
        await chat.says("one")
        await chat.asked(agent, 1)
        await chat.says("/stop")
        await chat.hears()
        await chat.says("/compact")
        await chat.hears(SHORTENED_BY_HAND)
        await chat.says("two")
        await chat.hears("Two.")
    assert "abort" in told(agent.turns[1])
    assert SHORTENED in told(agent.turns[1])


async def test_a_compaction_goes_on_after_a_restart(tmp_path):
    """TU-10, TU-23: it is a row like every turn, also when it was under way; what waited behind it is answered."""
    machine, agent = Machine(tmp_path), Slow()
    async with machine.running(agent, killed=True) as gateway:
        await machine.chat.says("/compact")
        await agent.begun.wait()
        await machine.chat.says("/compact")
        await machine.chat.says("one")
        await until(gateway, lambda census: census.inputs.get("waiting") == 2)
    agent = Forgetful("One.")
    async with machine.running(agent):
        for heard in (SHORTENED_BY_HAND, SHORTENED_BY_HAND, "One."):
            await machine.chat.hears(heard)
    assert agent.log == ["shortened", "shortened", ["one"]]


async def test_what_waited_long_is_gathered_without_the_compaction_among_it(tmp_path, monkeypatch):
    """TU-10, TU-23: the messages are one turn, and it is done by itself."""
    machine = Machine(tmp_path)
    async with machine.running(Forgetful([asyncio.Event().wait]), killed=True) as gateway:
        for text in ("zero", "one", "two", "/compact"):
            await machine.chat.says(text)
        await until(gateway, lambda census: census.inputs.get("waiting") == 3)
    agent = Forgetful("Zero.", "Both.")
    with monkeypatch.context() as patched:
        recover = SqlShard.recover
        patched.setattr(SqlShard, "recover", lambda self, now: recover(self, now, singly=0))
        async with machine.running(agent):
            heard = [(await machine.chat.hears()).text for _ in range(4)]
    assert heard[-2:] == ["Both.", SHORTENED_BY_HAND]
    assert agent.log == [["zero"], ["one", "two"], "shortened"]


async def test_an_agent_that_does_not_come_back_is_given_up():
    """TU-20, TU-23: by the lease of its run, and who waits is told."""

    class Lost(ScriptedAgent):
        async def compact(self, session):
            await asyncio.Event().wait()

    settings = Settings(gateway=GatewaySettings(idle_timeout_s=0.01))
    async with conversation(Lost("One."), settings=settings) as chat:
        await chat.says("/compact")
        await chat.hears(TIMED_OUT)


async def test_an_agent_that_keeps_its_memory_itself():
    async with conversation(ScriptedAgent()) as chat:
        await chat.says("/compact")
        await chat.hears("The agent scripted keeps its own memory; /new starts a new session.")


async def test_what_cannot_be_shortened_is_said():
    async with conversation(Forgetful(works=(False,))) as chat:
        await chat.says("/compact")
        await chat.hears("There was nothing to shorten, or it failed.")


async def test_what_to_keep_reaches_the_agent():
    """IN-61: `/compact <instructions>`, also where it stands in brackets."""
    agent = Forgetful("One.")
    async with conversation(agent) as chat:
        for typed in ("/compact keep the names", "[[/compact: the dates]]", "/compact"):
            await chat.says(typed)
            await chat.hears("The conversation has been shortened.")
    assert agent.log == ["shortened keep the names", "shortened the dates", "shortened"]
