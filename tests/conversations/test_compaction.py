"""A conversation that has become too long: what the agent is told, what people see."""

import asyncio

import pytest

from rejoinder.agents.base import Failed, Usage
from rejoinder.agents.settings import TourSettings
from rejoinder.config.agents import AgentDefaults
from rejoinder.config.schema import Agent, Settings
from rejoinder.runtime.lanes import MOMENT, Lanes
from rejoinder.runtime.work import Workers
from rejoinder.testing import ScriptedAgent, conversation
from rejoinder.turns.compaction import FLUSH_PROMPT, SHORTENED
from tests.conversations.agents import said, told

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

    async def compact(self, session) -> bool:
        self.log.append("shortened")
        return next(self._works)


def limited(tokens: int | None = 1000, **defaults) -> Settings:
    return Settings(
        agent_defaults=AgentDefaults(context_tokens=tokens, **defaults),
        agents={"scripted": Agent("tour", TourSettings(startup_notes="Read NOTES.md first."))},
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
    """TU-23, TU-29: `/compact`, and an overflow that was mended."""
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


async def test_who_has_read_the_answer_may_compact_though_the_disk_is_slow(monkeypatch):
    """TU-23: the agent is done; that its turn is still being written down is no news for people."""
    written = asyncio.Event()
    end, ended = Workers._end, Lanes.ended

    async def end_late(self, *args):
        await written.wait()
        await end(self, *args)

    async def ended_late(self, key, seconds=MOMENT):
        if seconds > MOMENT:
            written.set()
        await ended(self, key, seconds)

    agent = Forgetful("One.")
    async with conversation(agent, settings=limited(None)) as chat:
        monkeypatch.setattr(Workers, "_end", end_late)
        monkeypatch.setattr(Lanes, "ended", ended_late)
        await chat.says("one")
        await chat.hears("One.")
        await chat.says("/compact")
        assert "at work" not in (await chat.hears()).text
    assert agent.log == [["one"], "shortened"]


async def test_an_agent_that_does_not_come_back_does_not_hold_up_the_chat(monkeypatch):
    """TU-23: `/compact` is given up in the end, and the next message is answered."""
    monkeypatch.setattr("rejoinder.runtime.effects.COMPACT_PATIENCE", 0.01)

    class Lost(ScriptedAgent):
        async def compact(self, session):
            await asyncio.Event().wait()

    async with conversation(Lost("One.")) as chat:
        await chat.says("/compact")
        await chat.hears("The agent took too long; the conversation is as it was.")
        await chat.says("one")
        await chat.hears("One.")
