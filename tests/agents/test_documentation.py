"""The page about agents says what the code does."""

from pathlib import Path
from typing import Any

import pytest

from rejoinder.agents import acp, anthropic, http, local, openai, python
from rejoinder.agents.chat_completions import WAYS
from rejoinder.agents.thinking_levels import ThinkingSupport
from rejoinder.config.load import read

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
KINDS: dict[str, Any] = {
    "acp": acp.Settings,
    "anthropic": anthropic.Settings,
    "http": http.Settings,
    "local": local.Settings,
    "openai": openai.Settings,
    "python": python.Settings,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_are_configurations(kind: str):
    """Each section has an example, and it is one that a configuration may hold and the agent reads."""
    section = PAGE.split(f"\n## {kind}\n", 1)[1].split("\n## ", 1)[0]
    example = section.split("```toml\n", 1)[1].split("```", 1)[0]
    variables = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "MINE_TOKEN": "k"}
    (agent,) = read(example, "rejoinder.toml", variables).agents.values()
    assert agent.kind == kind
    assert isinstance(agent.settings, KINDS[kind])


def test_the_levels_can_be_replaced_as_the_page_says():
    """IN-59: an endpoint with words of its own."""
    said = PAGE.split("name them differently:\n`", 1)[1].split("`", 1)[0]
    text = f'[agents.a]\nkind = "openai"\nmodel = "m"\n{said}\n'
    (agent,) = read(text, "rejoinder.toml", {}).agents.values()
    own = agent.settings.think
    assert ThinkingSupport(WAYS, own).setting("m", "off") == {"chat_template_kwargs": {"enable_thinking": False}}
