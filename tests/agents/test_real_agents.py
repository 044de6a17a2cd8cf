"""Agents that nobody here wrote, against our model server: they keep us honest about the protocol."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest
from msgspec import structs

from rejoinder.agents.acp import Settings, open_agent
from rejoinder.agents.acp.agent import AcpAgent
from rejoinder.agents.base import (
    AgentEvent,
    Done,
    Failed,
    ModelSelected,
    Question,
    SessionOpened,
    TextDelta,
    ToolEnded,
    ToolStarted,
)
from rejoinder.secret import Secret
from rejoinder.testing.agent_contract import a_turn, begun, everything, text_of
from rejoinder.testing.model_server import Answer, ModelRequest, ModelServer, Refuse, Say, Stall

from .real_agents import CODEX, HERMES, OPENCODE, RealAgent, installed

pytestmark = pytest.mark.xdist_group("real agents")  # installed once, not twice at the same time
ALL = (
    pytest.param(CODEX, id="codex", marks=pytest.mark.real_agent),
    pytest.param(OPENCODE, id="opencode", marks=pytest.mark.slow_agent),
    pytest.param(HERMES, id="hermes", marks=pytest.mark.slow_agent),
)


def answer(request: ModelRequest) -> Answer:
    """By what is asked and not by a script: some agents ask the model for a title, too."""
    if "role': 'tool'" in str(request.body):
        return Say("It ran.")
    match request.text.rsplit(maxsplit=1)[-1].strip('"'):
        case "stall":
            return Stall("I was just")
        case "pieces":
            return Say("[[reply_to:m42]]\nThe answer is in pieces.")
        case "refuse":
            return Refuse(401)
        case "run":
            return Say("", tool="bash", arguments='{"command": "echo hi", "description": "say hi"}')
        case _:
            return Say(request.text)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(answer) as server:
        yield server


class Start(Protocol):
    def __call__(self, real: RealAgent) -> AbstractAsyncContextManager[AcpAgent]: ...


@pytest.fixture
def start(server: ModelServer, tmp_path: Path) -> Start:
    """Starts an agent with a home of its own; started again, it has the same home."""

    @asynccontextmanager
    async def start(real: RealAgent) -> AsyncIterator[AcpAgent]:
        command = await asyncio.to_thread(installed, real)
        env = {name: Secret(value) for name, value in real.configure(tmp_path, server.openai_url).items()}
        agent = open_agent(
            "real",
            Settings(command=command, cwd=str(tmp_path), env=env),
        )
        try:
            async with asyncio.timeout(120):
                yield agent
        finally:
            await agent.close()

    return start


@pytest.mark.parametrize("real", ALL)
async def test_a_turn_streams(real: RealAgent, start: Start):
    """TU-33: a real agent answers, in pieces, with what the model said and nothing else."""
    async with start(real) as agent:
        events = await everything(agent, a_turn("Tell me in pieces"))
        assert isinstance(events[0], SessionOpened), agent.last_output()
        assert text_of(events) == "[[reply_to:m42]]\nThe answer is in pieces."
        assert len([event for event in events if isinstance(event, TextDelta)]) > 1
        assert events[-1] == Done("end")


@pytest.mark.parametrize("real", ALL)
async def test_a_cancel(real: RealAgent, start: Start):
    """TU-20: a run that is closed or cancelled ends, and the session goes on."""
    async with start(real) as agent:
        async with begun(agent, a_turn("Please stall")):
            pass
        assert text_of(await everything(agent, a_turn("Once more"))) == "Once more"
        async with begun(agent, a_turn("Please stall")) as run:
            await agent.cancel("session-1")
            assert [event async for event in run][-1] == Done("cancelled")


@pytest.mark.parametrize("real", ALL)
async def test_a_load_in_a_new_process(real: RealAgent, start: Start, server: ModelServer):
    """TU-33: session/load in another process: the model is told what was said in the first."""
    async with start(real) as agent:
        (opened, *_) = await everything(agent, a_turn("My name is Ann"))
    assert isinstance(opened, SessionOpened)
    async with start(real) as agent:
        agent.load_session("session-1", opened.saved)
        events = await everything(agent, a_turn("Who am I?"))
        assert SessionOpened not in map(type, events)
        assert text_of(events) == "Who am I?"
        assert "My name is Ann" in str(server.requests[-1].body)


@pytest.mark.parametrize("real", ALL)
async def test_nobody_is_left_behind(real: RealAgent, start: Start, tmp_path: Path):
    """TU-33: after the close no process of the agent is alive."""
    async with start(real) as agent:
        await everything(agent, a_turn("Hello"))
    assert [pid for pid in os.listdir("/proc") if pid.isdigit() and _lives_in(pid, tmp_path)] == []


def _lives_in(pid: str, home: Path) -> bool:
    try:
        return f"HOME={home}".encode() in Path("/proc", pid, "environ").read_bytes().split(b"\0")
    except OSError:
        return False


@pytest.mark.real_agent
async def test_model_and_thinking(start: Start, server: ModelServer):
    """TU-33: /model and /think are set through the agent's own options; a model it has not is named."""
    async with start(CODEX) as agent:
        hello = a_turn("Hello")
        events = await everything(agent, structs.replace(hello, model="gpt-5.4-mini", think="high"))
        assert ModelSelected("gpt-5.4-mini") in events
        assert server.requests[-1].body["model"] == "gpt-5.4-mini"
        assert server.requests[-1].body["reasoning"]["effort"] == "high"
        last = (await everything(agent, structs.replace(hello, model="no-such-model")))[-1]
        assert isinstance(last, Failed)
        assert last.kind == "model_not_found"
        assert "gpt-5.4-mini" in last.detail


@pytest.mark.real_agent
async def test_a_wrong_key(start: Start):
    """TU-22: what the provider refuses the agent reports, and it is classified anyway."""
    async with start(CODEX) as agent:
        last = (await everything(agent, a_turn("Please refuse")))[-1]
        assert isinstance(last, Failed)
        assert last.kind == "auth"


@pytest.mark.slow_agent
@pytest.mark.parametrize(("wish", "ran"), [("allow_once", True), (None, False)])
async def test_permission(start: Start, wish: str | None, ran: bool):
    """TU-33: a real agent asks before it runs a command, and does as it is told."""
    async with start(OPENCODE) as agent:
        events: list[AgentEvent] = []
        async for event in agent.run(a_turn("Please run")):
            events.append(event)
            if isinstance(event, Question):
                yes = next(option.id for option in event.offered if option.grants == "once")
                await agent.answer(event.id, yes if wish else None)
        assert Question in map(type, events), events
        assert ToolStarted in map(type, events)
        assert [event.ok for event in events if isinstance(event, ToolEnded)] == [ran]
