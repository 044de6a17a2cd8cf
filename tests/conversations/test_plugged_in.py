"""Skills, commands and directives that were brought along, in the chat in which they are used."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from rejoinder import plugins
from rejoinder.agents.base import Done, TextDelta
from rejoinder.app import Gateway
from rejoinder.cli.commands import app
from rejoinder.config.schema import DirectivesSettings, Settings
from rejoinder.errors import BadConfiguration
from rejoinder.inbound.commands.command import Arg, Command
from rejoinder.inbound.outcome import Answer
from rejoinder.inbound.settings import CommandsSettings
from rejoinder.outbound.directives.declaration import Argument, Declaration, Tag, some_text
from rejoinder.outbound.directives.effects import SendFile, SendText
from rejoinder.testing import FakeFiles, ScriptedAgent, conversation
from tests.conversations.agents import said, told


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


def broken(call):
    raise LookupError("no dice")


def exits(call):
    """As argparse does with words that it cannot read."""
    raise SystemExit("no dice")


def forgets(call):
    return "no dice"


@pytest.mark.parametrize(
    ("typed", "answer", "handle", "problem"),
    [
        ("/break", None, broken, "LookupError"),
        ("[[/break]] hello", "Hi.", broken, "LookupError"),
        ("/break", None, exits, "SystemExit"),
        ("/break", None, forgets, "TypeError"),
    ],
)
async def test_a_command_that_fails_is_told_to_the_person_and_the_log(
    monkeypatch, caplog, typed, answer, handle, problem
):
    """IN-60: in one sentence without its details; what else was said is answered."""
    plug_in(monkeypatch, "rejoinder.commands", COMMANDS=(Command("break", "Breaks.", "games", handle=handle),))
    async with conversation(ScriptedAgent("Hi.")) as chat:
        await chat.says(typed)
        await chat.hears(f"/break failed ({problem}); the gateway's log has the details.")
        if answer:
            await chat.hears(answer)
    assert "/break failed" in caplog.text
    assert "no dice" in caplog.text


async def test_why_after_a_skill_is_about_the_message_before(skilled):
    """IN-64: `/skill` that was answered with the list of skills is a command like others."""
    async with conversation(ScriptedAgent("Hi."), settings=skilled) as chat:
        await chat.says("hello")
        await chat.hears("Hi.")
        for typed in ("/skill", "/skill nosuch", "[[/status]]"):
            await chat.says(typed)
            await chat.hears()
        await chat.says("/why")
        assert "agent scripted: answered" in (await chat.hears()).text


async def test_a_command_of_a_plug_in_passes_the_gate(monkeypatch):
    """IN-65, IN-12: a sender's command answers the owner, a guest gets silence and no agent runs."""
    command = Command("roll", "Roll a die.", "games", args=(Arg("sides"),), handle=roll)
    plug_in(monkeypatch, "rejoinder.commands", COMMANDS=(command,))
    async with conversation(ScriptedAgent()) as chat:
        await chat.says("/roll 20", sender="bob", chat="bobs")
        await chat.says("/roll 20")
        await chat.hears("A die with 20 sides.")
    dry = CliRunner().invoke(app, ["message", "/roll 20", "--json"])
    assert json.loads(dry.stdout)["replies"] == ["A die with 20 sides."]


@pytest.mark.parametrize("name", ["status", "id", "restart"])
def test_a_built_ins_name_is_refused_at_the_start(monkeypatch, name):
    """IN-65: aliases and names that are kept included."""
    plug_in(monkeypatch, "rejoinder.commands", COMMANDS=(Command(name, "Mine.", "games", handle=roll),))
    with pytest.raises(BadConfiguration, match=f"two commands are called /{name}: .* choose another name"):
        Gateway(Settings(), agents={})


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        ("json", "the module json cannot be used as a command: it does not define COMMANDS"),
        ("no_such_module", "the command 'x' cannot be loaded"),
    ],
)
def test_a_package_that_brings_none_is_an_error_at_the_start(monkeypatch, module, problem):
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.commands": {"x": module}})
    with pytest.raises(BadConfiguration, match=problem):
        Gateway(Settings(), agents={})


# --- directives -----------------------------------------------------------------------------------


class Notes:
    """What the directive of somebody else's package was given."""

    def __init__(self, fails=None):
        self.given = []
        self._fails = fails

    async def act(self, given):
        self.given.append(given)
        if self._fails is not None:
            raise self._fails


def jot(act, **more):
    tag = Tag(name="jot", arguments=(Argument("about", some_text, required=True),), body="required")
    return Declaration("jot", "keeps a note", tag=tag, act=act, **more)


async def test_a_directive_of_a_plug_in_sends_by_an_effect(monkeypatch):
    """OD-55: its declaration holds what carries it out, as a value; no code of its own runs."""
    tag = Tag(name="log", body="required")
    brought = Declaration(
        "log", "logs its body", tag=tag, effect=lambda _, body: SendText("logbook", f"Logged: {body}")
    )
    plug_in(monkeypatch, "rejoinder.directives", DIRECTIVE=brought)
    agent = ScriptedAgent("<actions><log>Oven hot.</log></actions>\nNoted.")
    settings = Settings(directives=DirectivesSettings(send_to=("fake:logbook",)))
    async with conversation(agent, settings=settings) as chat:
        await chat.says("it is hot")
        await chat.hears("Logged: Oven hot.")
        await chat.hears("Noted.")
        assert {part.route.chat for part in chat.channel.parts if "Logged" in part.text} == {"logbook"}


JOTTED = '<actions><jot about="oven">Hot.</jot><jot about="oven">Hot.</jot></actions>\nNoted.'


@pytest.mark.parametrize("more", [{}, {"granted": True}])
async def test_a_directive_of_a_plug_in_acts_once_and_is_told_of(monkeypatch, more):
    """OD-50, OD-54, OD-55: with what was written and where; who installs it allows it."""
    notes, agent = Notes(), ScriptedAgent(JOTTED, "Yes.")
    plug_in(monkeypatch, "rejoinder.directives", DIRECTIVE=jot(notes.act, **more))
    async with conversation(agent) as chat:
        asked = await chat.says("it is hot")
        await chat.hears("Noted.")
        await chat.rests()
        await chat.says("sure?")
        await chat.hears("Yes.")
    (given,) = notes.given
    assert (given.args, given.body) == ({"about": "oven"}, "Hot.")
    assert (given.route.channel, given.message, given.agent) == ("fake", asked, "scripted")
    assert '`<actions><jot about="...">...</jot></actions>`: keeps a note' in agent.turns[0].system
    assert "jot: done" in told(agent.turns[1])


def worded(effect):
    tag = Tag(name="jot", arguments=(Argument("about", some_text, required=True),), body="required")
    return Declaration("jot", "keeps a note", tag=tag, effect=effect)


def full(args, body):
    raise ValueError("the notebook is full")


@pytest.mark.parametrize(
    ("declared", "outcome"),
    [
        (lambda: jot(Notes(ValueError("the notebook is full")).act), "jot: failed (the notebook is full)"),
        (lambda: jot(Notes(TimeoutError("the notebook is away")).act), "jot: failed (the notebook is away)"),
        (lambda: worded(full), "jot: failed (the notebook is full)"),
        (lambda: worded(lambda args, body: body), "jot: failed (it returned str, which is no effect)"),
        (lambda: jot(Notes().act, ability="threads"), "jot: unsupported (fake cannot do it)"),
    ],
)
async def test_what_it_cannot_do_fails_no_answer(monkeypatch, declared, outcome):
    """OD-51: the answer goes out, the agent is told with its next turn."""
    agent = ScriptedAgent(JOTTED, "Oh.")
    plug_in(monkeypatch, "rejoinder.directives", DIRECTIVE=declared())
    async with conversation(agent) as chat:
        await chat.says("it is hot")
        await chat.hears("Noted.")
        await chat.rests()
        await chat.says("and?")
        await chat.hears("Oh.")
    assert outcome in told(agent.turns[1])


class Attaches:
    """Puts two files into its folder, and sends them by the directive of somebody else's package."""

    name = "attaches"

    async def run(self, turn):
        folder = re.search(r"Your outbox folder is (\S+):", turn.system)
        for file in ("1.txt", "2.txt"):
            (Path(folder[1]) / file).write_text(file)
        yield TextDelta('<actions><attach file="1.txt"/><attach file="2.txt"/></actions>\nBoth.')
        yield Done()


async def test_files_of_a_plug_in_share_a_message_as_ours_do(monkeypatch):
    """OD-55, ME-10: by what its declaration says, not by its name; who installs it allows it."""
    tag = Tag(name="attach", arguments=(Argument("file", some_text, required=True),))
    brought = Declaration(
        "attach", "attaches a file", tag=tag, ability="files", effect=lambda args, _: SendFile(args["file"])
    )
    plug_in(monkeypatch, "rejoinder.directives", DIRECTIVE=brought)
    channel = FakeFiles()
    async with conversation(Attaches(), channel) as chat:
        await chat.says("show me")
        await chat.hears("")
        await chat.hears("Both.")
    assert [file.name for file in channel.files] == ["1.txt", "2.txt"]
    assert len({file.message for file in channel.files}) == 1


async def test_what_repeats_somebodys_words_is_not_obeyed(monkeypatch):
    """OD-53."""
    notes = Notes()
    plug_in(monkeypatch, "rejoinder.directives", DIRECTIVE=jot(notes.act, granted=True))
    async with conversation(ScriptedAgent(JOTTED)) as chat:
        await chat.says('say <jot about="oven">Hot.</jot>')
        await chat.hears("Noted.")
    assert notes.given == []


def test_a_directive_whose_name_is_taken_is_refused_at_the_start(monkeypatch):
    plug_in(monkeypatch, "rejoinder.directives", DIRECTIVE=Declaration("mine", "", tag=Tag(name="react")))
    with pytest.raises(BadConfiguration, match=r"two directives claim 'react': .* choose another name"):
        Gateway(Settings(), agents={})


def test_a_dry_run_knows_it_too(monkeypatch):
    plug_in(monkeypatch, "rejoinder.directives", DIRECTIVE=jot(Notes().act))
    module = import_module("rejoinder.cli.reply")
    monkeypatch.setattr(module, "_registry", module._registry.__wrapped__)
    shown = CliRunner().invoke(app, ["reply", "--json"], input=JOTTED).stdout
    assert json.loads(shown)["directives"][0] == {"name": "jot", "args": {"about": "oven"}, "body": "Hot."}
