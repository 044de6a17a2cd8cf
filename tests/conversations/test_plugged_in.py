"""Skills and commands that were brought along, in the chat in which they are used."""

import sys
from types import ModuleType

import pytest

from rejoinder import plugins
from rejoinder.app import Gateway
from rejoinder.config.schema import Settings
from rejoinder.errors import BadConfiguration
from rejoinder.inbound.commands.command import Arg, Command
from rejoinder.inbound.outcome import Answer
from rejoinder.inbound.settings import CommandsSettings
from rejoinder.testing import ScriptedAgent, conversation
from tests.conversations.agents import said


@pytest.fixture
def skilled(tmp_path):
    (tmp_path / "poem").mkdir()
    (tmp_path / "poem" / "SKILL.md").write_text("---\ndescription: Rhymes.\n---\nFour lines.\n")
    return Settings(commands=CommandsSettings(skills=str(tmp_path)))


@pytest.mark.parametrize("typed", ["/poem about rain", "/skill poem about rain"])
async def test_a_skill_rewrites_the_prompt(skilled, typed):
    """IN-65: the agent gets the skill's instructions and the input."""
    agent = ScriptedAgent("Drip.")
    async with conversation(agent, settings=skilled) as chat:
        await chat.says(typed)
        await chat.hears("Drip.")
    assert said(agent.turns[0]) == ["Use the skill poem.\n\nFour lines.\n\nInput:\nabout rain"]


async def test_skills_are_listed_with_the_commands(skilled):
    async with conversation(ScriptedAgent(), settings=skilled) as chat:
        await chat.says("/commands")
        assert "/poem [<input>]: Rhymes." in (await chat.hears()).text


def plug_in(monkeypatch, group, **names):
    """A package of somebody else's, with a module that has these names."""
    module = ModuleType("somebody_elses")
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(plugins, "installed", lambda: {group: {"theirs": module.__name__}})


def roll(call):
    return Answer((f"A die with {call.args.get('sides', '6')} sides.",))


async def test_a_command_of_a_plug_in_passes_the_gate(monkeypatch):
    """IN-65, IN-12: a sender's command answers the owner, a guest gets silence and no agent runs."""
    command = Command("roll", "Roll a die.", "games", args=(Arg("sides"),), handle=roll)
    plug_in(monkeypatch, "rejoinder.commands", COMMANDS=(command,))
    async with conversation(ScriptedAgent()) as chat:
        await chat.says("/roll 20", sender="bob", chat="bobs")
        await chat.says("/roll 20")
        await chat.hears("A die with 20 sides.")


@pytest.mark.parametrize("name", ["status", "id", "restart"])
def test_a_built_ins_name_is_refused_at_the_start(monkeypatch, name):
    """IN-65: aliases and names that are kept included."""
    plug_in(monkeypatch, "rejoinder.commands", COMMANDS=(Command(name, "Mine.", "games", handle=roll),))
    with pytest.raises(BadConfiguration, match=f"two commands are called /{name}: .* choose another name"):
        Gateway(Settings(), agents={})


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        ("json", "json is no command: it does not define COMMANDS"),
        ("no_such_module", "the command 'x' cannot be loaded"),
    ],
)
def test_a_package_that_brings_none_is_an_error_at_the_start(monkeypatch, module, problem):
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.commands": {"x": module}})
    with pytest.raises(BadConfiguration, match=problem):
        Gateway(Settings(), agents={})
