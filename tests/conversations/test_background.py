"""Turns that nobody asked for: where their words go, and what they leave alone (TU-28)."""

import asyncio
import itertools
from contextlib import asynccontextmanager

import pytest

from rejoinder.agents.base import CanAnswer
from rejoinder.app import MEMORY, Gateway, with_channel
from rejoinder.config.schema import Settings
from rejoinder.events import Route
from rejoinder.runtime.session.background import Background
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing import FakeChannel, ScriptedAgent
from rejoinder.testing.chat import Chat
from tests.conversations.agents import Asking, said, signs, told

ROOM = Route("fake", "room")
NUMBERS = itertools.count()


def job(agent, session="jobs", target=ROOM, **more) -> Background:
    return Background(
        id=f"job-{next(NUMBERS)}", agent=agent.name, session=session, text="Look after things.", target=target, **more
    )


@asynccontextmanager
async def gateway(agent):
    channel = FakeChannel()
    settings = with_channel(Settings(), channel.name, agent.name, ("ann",))
    made = Gateway(settings, agents={agent.name: agent}, channels=[channel], store=MEMORY)
    async with made as running, Tasks() as tasks:
        tasks.start("serve", running.serve())
        await channel.until(lambda: channel.listens)  # who is told to end before it begins does not end
        chat = Chat(channel, tasks)
        yield running, chat
        await chat.ends()


async def test_its_words_go_to_the_target(monkeypatch):
    """TU-28: no sender block, nothing to reply to, nobody to type for, and no answer to nobody's question."""
    agent, typing = ScriptedAgent("[[reply_to:current]]\nAll is well.", ""), signs(monkeypatch)
    async with gateway(agent) as (running, chat):
        await running.begin(job(agent))
        assert (await chat.hears("All is well.")).reply_to is None
        await running.begin(job(agent))
    assert said(agent.turns[0]) == ["Look after things."]
    assert "sender_context" not in told(agent.turns[0])
    assert typing == ["never", "never"]


@pytest.mark.parametrize("target", [None, Route("pigeon", "post")])
async def test_without_a_target_they_are_kept_with_a_warning(target, caplog):
    """TU-28: never lost in silence, not even when the channel is gone."""
    agent = ScriptedAgent("The disk is full.\n2024-01-01 ERROR made up\x1b[2J")
    async with gateway(agent) as (running, _):
        await running.begin(job(agent, target=target))
    assert [part.text.splitlines()[0] for part in running.kept] == ["The disk is full."]
    (warned,) = [said for said in caplog.messages if "its answer is stored" in said]
    assert "its answer is stored: The disk is full. 2024-01-01 ERROR made up" in warned
    assert warned.isprintable()


async def test_it_waits_for_what_runs_and_goes_alone():
    """TU-1, TU-28: the same lane; it neither interrupts nor joins what people say."""
    go = asyncio.Event()
    agent = ScriptedAgent(["One", go.wait, "."], "All is well.", "Two.")
    async with gateway(agent) as (running, chat):
        await chat.says("one")
        await chat.sees("One")
        await running.begin(job(agent, agent.turns[0].session))
        await chat.says("two")
        go.set()
        for text in ("One.", "All is well.", "Two."):
            await chat.hears(text)
    assert [said(turn) for turn in agent.turns] == [["one"], ["Look after things."], ["two"]]


async def test_it_does_not_refresh_the_session():
    """TU-26, TU-28: a session grows old by what people do not say."""
    agent = ScriptedAgent("One.", "All is well.")
    async with gateway(agent) as (running, chat):
        await chat.says("one")
        await chat.hears("One.")
        key = agent.turns[0].session
        before = (await running.store.session(key)).session.touched
        await running.begin(job(agent, key))
        await chat.hears("All is well.")
        assert (await running.store.session(key)).session.touched == before


async def test_its_questions_are_answered_by_nobody():
    """TU-34: there is no chat that asked."""
    agent = Asking()
    assert isinstance(agent, CanAnswer)
    async with gateway(agent) as (running, chat):
        await running.begin(job(agent))
        await chat.hears("I was told None.")
