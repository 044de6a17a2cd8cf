"""The configuration knows what the agents read."""

from typing import Any

import msgspec
import pytest

from rejoinder.agents import acp, anthropic, http, local, openai, python
from rejoinder.config.agents import AGENT_KINDS

KINDS: dict[str, Any] = {
    "acp": acp.Settings,
    "anthropic": anthropic.Settings,
    "http": http.Settings,
    "local": local.Settings,
    "openai": openai.Settings,
    "python": python.Settings,
}
OF_THE_GATEWAY = {"idle_timeout", "hard_timeout", "permission_timeout", "cancel_timeout"}
"""Held alike for every agent: nobody sets them for one."""
OF_THE_RUNTIME = {"startup_notes"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_agent_reads_can_be_configured(kind: str) -> None:
    """Every setting of the kind, with the same default, and no other."""
    configured = {each.name: each.default for each in msgspec.structs.fields(AGENT_KINDS[kind])}
    read = {each.name: each.default for each in msgspec.structs.fields(KINDS[kind])}
    assert configured.keys() - OF_THE_RUNTIME == read.keys() - OF_THE_GATEWAY
    said = {name for name, value in read.items() if value and value is not msgspec.NODEFAULT} - OF_THE_GATEWAY
    assert {name: configured[name] for name in said} == {name: read[name] for name in said}
