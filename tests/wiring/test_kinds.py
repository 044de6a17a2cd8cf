"""A channel and an agent of somebody else's package are configured like ours: one module and an entry point."""

import asyncio
import json
import sys
from types import ModuleType
from typing import Annotated

import jsonschema
import pytest
from msgspec import Meta, defstruct
from msgspec.structs import replace
from typer.testing import CliRunner

from rejoinder import plugins
from rejoinder.agents.base import Done, TextDelta
from rejoinder.agents.declaration import AgentKind
from rejoinder.agents.discover import keys
from rejoinder.app import MEMORY, Gateway
from rejoinder.channels.declaration import ChannelKind, Setup
from rejoinder.channels.slack.manifest import app_manifest
from rejoinder.cli import init
from rejoinder.cli.chat import read_settings
from rejoinder.cli.commands import app
from rejoinder.config.describe import json_schema
from rejoinder.config.kinds import agent_kinds
from rejoinder.config.load import load, read
from rejoinder.config.schema import CommonChannelSettings, ConfiguredChannel
from rejoinder.errors import BadConfiguration, BadUse
from rejoinder.programs.serving import with_page
from rejoinder.secret import Secret
from rejoinder.setup import SetupQuestion
from rejoinder.store.rooms import PutFact
from rejoinder.testing import FakeChannel
from rejoinder.wiring.opening import open_channels
from rejoinder.wiring.stores import open_for_operator, open_store

CONFIGURED = """
[agents.polly]
kind = "parrot"
word = "Ahoy"

[channels.deck]
kind = "ship"
token = "canary"
dm = "open"
"""


Word = defstruct("Settings", [("word", Annotated[str, Meta(description="What it says.")])], module="parrots")
Berth = defstruct("Settings", [("token", Secret)], module="ships")


class Parrot:
    def __init__(self, name, settings):
        self.name, self.settings = name, settings

    async def run(self, turn):
        yield TextDelta(self.settings.word)
        yield Done()


class Ship(FakeChannel):
    def __init__(self, name, settings):
        super().__init__(name)
        self.settings = settings


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    def bring(name, **defines):
        module = ModuleType(name)
        vars(module).update(defines)
        monkeypatch.setitem(sys.modules, name, module)
        return name

    theirs = {
        "rejoinder.agents": {"parrot": bring("their_parrot", AGENT=AgentKind(settings=Word, open=Parrot))},
        "rejoinder.channels": {"ship": bring("their_ship", CHANNEL=ChannelKind(settings=Berth, open=Ship))},
    }
    monkeypatch.setattr(plugins, "installed", lambda: theirs)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rejoinder.toml"
    path.write_text(CONFIGURED)
    return str(path)


async def test_they_serve(file):
    """From the file to the answer, with their own settings."""
    settings = load(file, {})
    (channel,) = open_channels(settings)
    assert isinstance(channel, Ship)
    assert channel.settings.token.reveal() == "canary"
    async with Gateway(settings, channels=[channel], store=MEMORY) as gateway:
        assert gateway.agents["polly"].settings == Word("Ahoy")
        gateway.tasks.start("serve", gateway.serve())
        await channel.until(lambda: channel.listens)
        await channel.says("hello", sender="ann", chat="ann")
        await channel.until(lambda: any(shown.text == "Ahoy" for shown in channel.messages.values()))
        await channel.close()


@pytest.mark.parametrize(
    ("wrong", "right", "sentence"),
    [
        ("word", "wrod", 'agents.polly.wrod: there is no such key; did you mean "word"'),
        ('"parrot"', '"parot"', 'agents.polly.kind: "parot" is not a choice here; did you mean "parrot"'),
        ('"ship"', '"shop"', 'channels.deck.kind: "shop" is not a choice here; did you mean "ship"'),
    ],
)
def test_mistakes_are_told_like_ours(file, wrong, right, sentence):
    with open(file, "w") as rewritten:
        rewritten.write(CONFIGURED.replace(wrong, right, 1))
    with pytest.raises(BadConfiguration, match=sentence):
        load(file, {})


def test_every_command_knows_them(file):
    shown = CliRunner().invoke(app, ["config", "--json", "-c", file])
    assert shown.exit_code == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert document["agents"]["polly"] == {"kind": "parrot", "word": "Ahoy"}
    assert document["channels"]["deck"]["token"] == "***"
    schema = json.loads(CliRunner().invoke(app, ["config", "--schema"]).stdout)
    assert schema["$defs"]["parrots.Settings"]["properties"]["word"]["description"] == "What it says."
    assert "dm" in schema["$defs"]["ships.Settings"]["properties"]
    assert read_settings(file).agents["polly"].settings == Word("Ahoy")


@pytest.mark.parametrize(
    ("defines", "sentence"),
    [
        ({"AGENT": Parrot}, "their_odd is not an agent: its AGENT is not an AgentKind"),
        ({}, "the module their_odd cannot be used as an agent: it does not define AGENT"),
        (
            {"Settings": Word, "open_agent": Parrot},
            "the module their_odd cannot be used as an agent: it does not define AGENT; it was written for an earlier "
            "version: add AGENT = AgentKind(settings=Settings, open=open_agent)",
        ),
    ],
)
def test_one_that_does_not_declare_itself_is_refused(monkeypatch, file, defines, sentence):
    """The module is named, and where it has the form of an earlier version, what to add."""
    module = ModuleType("their_odd")
    vars(module).update(defines)
    monkeypatch.setitem(sys.modules, "their_odd", module)
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.agents": {"parrot": "their_odd"}})
    with pytest.raises(BadConfiguration) as problem:
        load(file, {})
    assert str(problem.value) == sentence


def test_a_kind_that_cannot_be_loaded_is_in_nobodys_way(monkeypatch):
    """Who is looked for where no agent was chosen: only those that can be loaded, ours first."""
    theirs = {"aaa": "their_parrot", "broken": "no_such_module"}
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.agents": theirs})
    assert list(agent_kinds()) == [name for name in plugins.names("agent") if name not in theirs] + ["aaa"]


def test_a_schema_has_every_kind_that_can_be_loaded(monkeypatch):
    """Two kinds may share a record, as those without settings do; one that cannot be loaded is left out."""
    vars(sys.modules["their_ship"])["CHANNEL"] = ChannelKind(open=Ship)
    channels = {"barge": "their_ship", "raft": "their_ship", "wreck": "no_such_module"}
    vars(sys.modules["their_parrot"])["AGENT"] = AgentKind(open=Parrot)
    agents = {"crow": "their_parrot", "parrot": "their_parrot"}
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.agents": agents, "rejoinder.channels": channels})
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    is_right = jsonschema.Draft202012Validator(schema).is_valid
    for name in ("barge", "raft"):
        assert is_right({"channels": {"here": {"kind": name, "dm": "open"}}, "agents": {"a": {"kind": "crow"}}})
    assert is_right({"agents": {"a": {"kind": "parrot"}}})
    assert not is_right({"channels": {"here": {"kind": "wreck"}}})


HARBOUR = Setup(
    offer="Serve a ship?",
    steps="Ask the harbour master for a berth.",
    section={"token": "${SHIP_TOKEN}"},
    asks=(
        SetupQuestion(key="mast", question="How many masts", default=3, takes="number", most=5),
        SetupQuestion(key="draught", question="Draught in metres", default=1.5, takes="number", least=0.5, most=30),
    ),
    verified=True,
    asks_then=(SetupQuestion(key="owners", question="Your own id", optional=True, listed=True, default="nobody"),),
    adds={"dm": "open"},
    advice="Mind the tide.",
)
Rig = defstruct("Settings", [("token", Secret), ("mast", int), ("draught", float, 1.5)], module="rigs")


async def afloat(settings, running):
    if settings.token.reveal() != "canary":
        raise BadUse("the harbour master does not know it")
    return f"{settings.mast} masts, and {running or 'nobody'} aboard"


@pytest.fixture
def harbour(monkeypatch, tmp_path):
    module = ModuleType("their_harbour")
    vars(module)["CHANNEL"] = ChannelKind(settings=Rig, open=Ship, setup=HARBOUR, check=afloat)
    monkeypatch.setitem(sys.modules, "their_harbour", module)
    theirs = {"ship": "their_harbour", "wreck": "no_such_module"}
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.channels": theirs})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    for _, key in keys(agent_kinds()):
        monkeypatch.delenv(key.variable, raising=False)


def test_init_asks_what_they_declare(harbour, tmp_path):
    """CH-1: the offer, the steps, the questions, the token that is verified, what is written besides, and advice."""
    said = ["", "n", "n", "y", "6", "2.5", "2", "0.2", "2.25", "wrong", "n", "canary", "ann", "n", "n"]
    asked = CliRunner().invoke(app, ["init"], input="".join(f"{each}\n" for each in (*said, "")))
    assert asked.exit_code == 0, asked.output
    assert "Serve a ship? [y/N]: y\nAsk the harbour master for a berth.\n  How many masts [3]:" in asked.output
    assert "Enter a number from 0 to 5." in asked.output
    assert "[3]: 2.5\n  That does not work: expected a whole number" in asked.output
    assert "Draught in metres [1.5]: 0.2\n  Enter a number from 0.5 to 30." in asked.output
    assert "That does not work: the harbour master does not know it" in asked.output
    assert "2 masts, and nobody aboard\n  Your own id [nobody]: ann\nMind the tide.\n" in asked.output
    written = (tmp_path / "rejoinder.toml").read_text()
    answers = 'mast = 2\ndraught = 2.25\nowners = ["ann"]\ndm = "open"\n'
    assert written.endswith(f'[channels.ship]\ntoken = "${{SHIP_TOKEN}}"\n{answers}'), written


def test_init_prints_the_manifest_they_declare(harbour, monkeypatch):
    """CH-1: for any kind that has one; `--slack-manifest` is the same for ours."""
    monkeypatch.setattr(sys.modules["their_harbour"], "CHANNEL", ChannelKind(open=Ship, manifest={"flag": "yellow"}))

    def printed(*words):
        shown = CliRunner().invoke(app, ["init", *words])
        assert shown.exit_code == 0, shown.output
        return json.loads(shown.stdout)

    assert printed("--manifest", "ship") == {"flag": "yellow"}
    assert printed("--manifest", "slack") == printed("--slack-manifest") == app_manifest()
    for kind in ("telegram", "raft", ""):
        with pytest.raises(BadUse) as problem:
            init.make_configuration(manifest=kind)
        assert str(problem.value) == f"no kind of channel called {kind!r} has a manifest; there are: ship, slack"


def test_doctor_says_what_they_find(harbour, tmp_path):
    """CH-1: the check that a channel declares is the one that is made."""
    path = tmp_path / "rejoinder.toml"
    path.write_text('[agents.guide]\nkind = "tour"\n[channels.ship]\ntoken = "canary"\nmast = 1\n')
    report = CliRunner().invoke(app, ["doctor", "--json", "-c", str(path)])
    found = {each["what"]: each["found"] for each in json.loads(report.stdout)["checks"]}
    assert found["channels.ship"] == "1 masts, and nobody aboard"


def test_send_refuses_a_chat_that_they_do_not_know(harbour, monkeypatch, tmp_path):
    """CH-1: a channel with rooms in the store says which there are, by its log and the agents; others are not asked."""

    async def berth(log, chat, agents):
        said = await log.fact("berths", chat)
        return "" if said else f"there is no berth {chat} for {', '.join(agents)}"

    (tmp_path / "rejoinder.toml").write_text('[agents.guide]\nkind = "tour"\n[channels.ship]\n')
    send = ["send", "--channel", "ship", "--chat", "seven", "ahoy"]
    monkeypatch.setattr(sys.modules["their_harbour"], "CHANNEL", ChannelKind(open=Ship, chat_problem=berth))
    asyncio.run(put_fact("ship/berths", "nine", b"narrow"))
    refused = CliRunner().invoke(app, send)
    assert refused.output == "rejoinder: there is no berth seven for guide\n"
    asyncio.run(put_fact("ship/berths", "seven", b"long"))
    assert CliRunner().invoke(app, send).stdout.startswith("Planned: ")
    monkeypatch.setattr(sys.modules["their_harbour"], "CHANNEL", ChannelKind(open=Ship))
    assert CliRunner().invoke(app, [*send[:-2], "eight", "ahoy"]).stdout.startswith("Planned: ")


async def put_fact(*fact):
    await open_store("sqlite:rejoinder.db").close()  # as a gateway leaves it
    store = open_for_operator("sqlite:rejoinder.db")
    await store.write(PutFact(*fact))
    await store.close()


def test_without_a_channel_those_that_say_so_are_served(harbour, monkeypatch):
    """CH-1: beside the page, with all agents and the settings of an empty section; a job may speak there. One that
    needs a key is not, and nobody is in the way who is not loaded."""
    deck = defstruct("Settings", [("mast", int, 2), ("dm", str, "open")], module="decks")
    text = '[agents.polly]\nkind = "tour"\n[agents.jack]\nkind = "tour"\n'
    job = '[cron.bell]\nevery = "1h"\nagent = "polly"\nprompt = "x"\nchannel = "{}"\nchat = "bridge"\n'

    def served(kind):
        monkeypatch.setattr(sys.modules["their_harbour"], "CHANNEL", kind)
        return with_page(read(text, "x.toml", {})).channels

    both = served(ChannelKind(settings=deck, open=Ship, by_default=True))
    common = CommonChannelSettings(dm="open", agents=("polly", "jack"))
    assert both["ship"] == ConfiguredChannel("ship", common, deck(mast=2))
    assert both["web"].common == replace(common, groups="open", require_mention=False, owners=("you",))
    read(text + job.format("ship"), "x.toml", {})
    for kind in (ChannelKind(settings=deck, open=Ship), ChannelKind(settings=Rig, open=Ship, by_default=True)):
        assert served(kind) == {"web": both["web"]}
        with pytest.raises(BadConfiguration, match=r"this channel is not configured; add a section \[channels.ship\]"):
            read(text + job.format("ship"), "x.toml", {})
    read(text + job.format("web"), "x.toml", {})


def test_of_what_there_is_one_there_are_not_two(harbour, monkeypatch, tmp_path):
    """CH-1: a channel declares that there is one of it, and why."""
    kind = ChannelKind(settings=Rig, open=Ship, only_one="there is one sea")
    monkeypatch.setattr(sys.modules["their_harbour"], "CHANNEL", kind)
    section = '[channels.{}]\nkind = "ship"\ntoken = "canary"\nmast = 1\n'
    path = tmp_path / "rejoinder.toml"
    path.write_text('[agents.guide]\nkind = "tour"\n' + section.format("a") + section.format("b"))
    with pytest.raises(BadConfiguration, match=r"there is one sea, and it is \[channels.a\]; keep one of the two"):
        load(str(path), {})


def test_whoever_is_not_named_is_not_imported(tmp_path, monkeypatch):
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.agents": {"parrot": "no_such_module"}})
    path = tmp_path / "rejoinder.toml"
    path.write_text('[agents.guide]\nkind = "tour"')
    assert load(str(path), {}).agents["guide"].kind == "tour"
    path.write_text('[agents.polly]\nkind = "parrot"')
    with pytest.raises(BadConfiguration, match="the agent 'parrot' cannot be loaded from no_such_module"):
        load(str(path), {})
