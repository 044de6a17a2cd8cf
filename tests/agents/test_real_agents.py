"""Agents that nobody here wrote, against our model server: they keep us honest about the protocol."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec import structs

from rejoinder.agents.acp import AcpAgent, Settings, open_agent
from rejoinder.agents.base import Done, Failed, ModelSelected, SessionOpened, TextDelta
from rejoinder.testing.contracts import a_turn, begun, everything, text_of
from rejoinder.testing.model_server import ModelServer, Refuse, Say, Stall

pytestmark = pytest.mark.real_agent

ROOT = Path(__file__).parents[2]
AGENTS = Path(sys.prefix) / "agents" / "node_modules"
NO_NPM = 69


@pytest.fixture(scope="session")
def codex() -> tuple[str, ...]:
    """The command of codex-acp, installed when it is not there yet."""
    program = AGENTS / "@zed-industries" / "codex-acp" / "bin" / "codex-acp.js"
    if not program.exists():
        command = [str(ROOT / "scripts" / "agents"), sys.prefix, "@zed-industries/codex-acp"]
        installed = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if installed.returncode == NO_NPM:
            pytest.skip(installed.stderr.strip())
        assert installed.returncode == 0, installed.stderr
    native = list((AGENTS / "@zed-industries").glob("codex-acp-*/bin/codex-acp"))
    return (str(native[0]),) if native else ("node", str(program))


@asynccontextmanager
async def running(command: tuple[str, ...], server: ModelServer, home: Path) -> AsyncIterator[AcpAgent]:
    (home / "config.toml").write_text(
        f"""
        model = "gpt-5.4"
        model_provider = "here"
        [model_providers.here]
        name = "here"
        base_url = "{server.openai_url}"
        wire_api = "responses"
        env_key = "MODEL_KEY"
        request_max_retries = 0
        stream_max_retries = 0
        """
    )
    env = {"CODEX_HOME": str(home), "HOME": str(home), "MODEL_KEY": "sk-here"}
    agent = open_agent("codex", Settings(command=command, cwd=str(home), env=env))
    try:
        async with asyncio.timeout(60):
            yield agent
    finally:
        await agent.close()


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def test_codex_streams_a_turn(codex: tuple[str, ...], server: ModelServer, tmp_path: Path):
    """TU-33: a real agent answers, in pieces, with what the model said and nothing else."""
    async with running(codex, server, tmp_path) as agent:
        server.will(Say("[[reply_to:m42]]\nThe answer is in pieces."))
        events = await everything(agent, a_turn("Hello"))
        assert isinstance(events[0], SessionOpened), agent.last_words()
        assert text_of(events) == "[[reply_to:m42]]\nThe answer is in pieces."
        assert len([event for event in events if isinstance(event, TextDelta)]) > 1
        assert events[-1] == Done("end")
        assert "Hello" in str(server.requests[-1].body["input"])


async def test_codex_is_cancelled(codex: tuple[str, ...], server: ModelServer, tmp_path: Path):
    """TU-20: a run that is closed or cancelled ends, and the session goes on."""
    async with running(codex, server, tmp_path) as agent:
        server.will(Stall("I was just"))
        async with begun(agent, a_turn("Tell me all")):
            pass
        assert text_of(await everything(agent, a_turn("Once more"))) == "Once more"
        server.will(Stall("I was just"))
        async with begun(agent, a_turn("Tell me all")) as run:
            await agent.cancel("session-1")
            assert [event async for event in run][-1] == Done("cancelled")


async def test_codex_goes_on_in_a_new_process(codex: tuple[str, ...], server: ModelServer, tmp_path: Path):
    """TU-33: session/load in another process: the model is told what was said in the first."""
    async with running(codex, server, tmp_path) as agent:
        (opened, *_) = await everything(agent, a_turn("My name is Ann"))
    assert isinstance(opened, SessionOpened)
    async with running(codex, server, tmp_path) as agent:
        agent.load_session("session-1", opened.saved)
        events = await everything(agent, a_turn("Who am I?"))
        assert SessionOpened not in map(type, events)
        assert text_of(events) == "Who am I?"
        assert "My name is Ann" in str(server.requests[-1].body["input"])


async def test_codex_sets_its_model(codex: tuple[str, ...], server: ModelServer, tmp_path: Path):
    """TU-33: /model and /think are set through the agent's own options; a model it has not is named."""
    async with running(codex, server, tmp_path) as agent:
        hello = a_turn("Hello")
        events = await everything(agent, structs.replace(hello, model="gpt-5.4-mini", think="high"))
        assert ModelSelected("gpt-5.4-mini") in events
        assert server.requests[-1].body["model"] == "gpt-5.4-mini"
        assert server.requests[-1].body["reasoning"]["effort"] == "high"
        last = (await everything(agent, structs.replace(hello, model="no-such-model")))[-1]
        assert isinstance(last, Failed)
        assert last.kind == "model_not_found"
        assert "gpt-5.4-mini" in last.detail


async def test_codex_with_a_wrong_key(codex: tuple[str, ...], server: ModelServer, tmp_path: Path):
    """TU-22: what the provider refuses the agent reports, and it is classified all the same."""
    async with running(codex, server, tmp_path) as agent:
        server.will(Refuse(401))
        last = (await everything(agent, a_turn("Hello")))[-1]
        assert isinstance(last, Failed)
        assert last.kind == "auth"


async def test_codex_leaves_nobody_behind(codex: tuple[str, ...], server: ModelServer, tmp_path: Path):
    """TU-33: after the close no process of the agent is alive."""
    async with running(codex, server, tmp_path) as agent:
        await everything(agent, a_turn("Hello"))
    mine = [entry for entry in os.listdir("/proc") if entry.isdigit() and _runs_in(entry, tmp_path)]
    assert mine == []


def _runs_in(pid: str, home: Path) -> bool:
    try:
        return f"CODEX_HOME={home}".encode() in Path("/proc", pid, "environ").read_bytes()
    except OSError:
        return False
