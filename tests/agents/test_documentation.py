"""The page about agents says what the code does."""

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rejoinder.agents import acp, anthropic, http, local, openai, python
from rejoinder.agents.failures import SENTENCES
from rejoinder.agents.think import THINK
from rejoinder.config.agents import AGENT_KINDS
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
    """Each section has an example, and it is one that works."""
    section = PAGE.split(f"\n## {kind}\n", 1)[1].split("\n## ", 1)[0]
    example = section.split("```toml\n", 1)[1].split("```", 1)[0]
    (settings,) = tomllib.loads(example)["agents"].values()
    assert settings.pop("kind") == kind
    msgspec.convert(settings, KINDS[kind])
    read(example, "rejoinder.toml", dict.fromkeys(re.findall(r"\$\{(\w+)\}", example), "x"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_agent_reads_can_be_configured(kind: str):
    """The configuration knows every setting of the kind, with the same default, and no other."""
    configured = {each.name: each.default for each in msgspec.structs.fields(AGENT_KINDS[kind])}
    del configured["startup_notes"]  # the runtime's
    read_by_agent = {each.name: each.default for each in msgspec.structs.fields(KINDS[kind])}
    assert configured.keys() == read_by_agent.keys()
    for name, default in read_by_agent.items():
        said = configured[name]
        assert said == default or not said or said is msgspec.NODEFAULT or default is msgspec.NODEFAULT, name


def test_the_table_of_levels_is_the_table():
    for level, row in THINK.items():
        effort = row["openai"].get("reasoning_effort")
        tokens = row["anthropic"].get("thinking", {}).get("budget_tokens")
        first = f'`reasoning_effort = "{effort}"`' if effort else "nothing added"
        second = f"{tokens} tokens" if tokens else "nothing added"
        assert f"| {level} | {first} | {second} |" in PAGE


def test_the_table_of_failures_is_the_table():
    for kind, sentence in SENTENCES.items():
        assert f"| `{kind}` | {sentence} |" in PAGE
