"""What is said at the start about agents that cannot answer."""

import sys

import pytest

from rejoinder.agents import acp
from rejoinder.config.schema import ConfiguredAgent, Settings
from rejoinder.programs.agent_choice import absent_programs
from rejoinder.secret import Secret


@pytest.mark.parametrize(
    ("agent", "is_said"),
    [
        (ConfiguredAgent("acp", acp.Settings(command=("no-such-agent", "--acp"))), True),
        (ConfiguredAgent("acp", acp.Settings(command=("/nowhere/agent",))), True),
        (ConfiguredAgent("acp", acp.Settings(command=(sys.executable,))), False),
        (ConfiguredAgent("acp", acp.Settings(command=("./agent",))), False),
        (ConfiguredAgent("acp", acp.Settings(command=("no-such-agent",), env={"PATH": Secret("/elsewhere")})), False),
        (ConfiguredAgent("tour", {}), False),
    ],
    ids=["not on the PATH", "no such file", "there", "in its own folder", "on a PATH of its own", "no program"],
)
def test_a_program_that_is_not_there_is_told_before_anybody_writes(agent: ConfiguredAgent, is_said: bool) -> None:
    said = absent_programs(Settings(agents={"coder": agent}))
    assert bool(said) is is_said
    assert not said or said[0].startswith("agents.coder: there is no program ")
