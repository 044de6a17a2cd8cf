"""What another package brings may be wrong or fail: a sentence says what and where, and nothing else stops."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from msgspec import Struct

from rejoinder import plugins
from rejoinder.agents.declaration import AgentKind
from rejoinder.channels.base import Limits
from rejoinder.channels.declaration import ChannelKind
from rejoinder.config.kinds import store_file
from rejoinder.config.load import load, read
from rejoinder.errors import BadConfiguration
from rejoinder.programs import doctor
from rejoinder.store.declaration import StoreKind
from rejoinder.store.sqlite import STORE as SQLITE
from rejoinder.testing import FakeChannel, FakeMessenger
from rejoinder.wiring.opening import open_agents, open_channels
from rejoinder.wiring.stores import open_for_operator, open_reader, open_store


class Choosy(Struct, frozen=True):
    pause: int = 1
    least: int = 0

    def __post_init__(self):
        if self.pause < 0:
            raise ValueError("`pause` is never negative")

    def problems(self):
        if self.pause < self.least:
            yield ("pause",), "it is at least `least`"


class Failing:
    def __init__(self, name, settings):
        self.name = name

    async def check(self):
        raise RuntimeError("no seeds")


def never(*_):
    raise RuntimeError("no seeds")


@pytest.fixture
def bring(monkeypatch):
    """Installs a package that brings this under the name `theirs`."""

    def installed(kind, **defines):
        module = ModuleType("their_module")
        vars(module).update(defines)
        monkeypatch.setitem(sys.modules, "their_module", module)
        monkeypatch.setattr(plugins, "installed", lambda: {plugins.KINDS[kind].group: {"theirs": "their_module"}})

    return installed


AGENT = '[agents.polly]\nkind = "theirs"\n'
CHANNEL = '[agents.guide]\nkind = "tour"\n[channels.theirs]\n'


def mistake(text):
    with pytest.raises(BadConfiguration) as raised:
        read(text, "x.toml", {})
    return str(raised.value)


def test_settings_that_refuse_a_value_are_a_mistake_in_the_file(bring):
    """CH-1: in its record (`__post_init__`), or once the whole file was read (`problems`)."""
    bring("agent", AGENT=AgentKind(settings=Choosy, open=Failing))
    assert mistake(f"{AGENT}pause = -1") == "x.toml:1: agents.polly: `pause` is never negative"
    assert mistake(f"{AGENT}pause = 1\nleast = 2") == "x.toml:3: agents.polly.pause: it is at least `least`"
    bring("channel", CHANNEL=ChannelKind(settings=Choosy, open=Failing))
    assert mistake(f"{CHANNEL}pause = -1") == "x.toml:3: channels.theirs: `pause` is never negative"


def test_what_cannot_be_opened_is_a_sentence(bring):
    bring("agent", AGENT=AgentKind(settings=Choosy, open=never))
    with pytest.raises(
        BadConfiguration, match=r"agents.polly: it cannot be opened: RuntimeError: no seeds \(test_code"
    ):
        open_agents(read(AGENT, "x.toml", {}))
    bring("channel", CHANNEL=ChannelKind(open=never))
    with pytest.raises(BadConfiguration, match=r"channels.theirs: it cannot be opened: RuntimeError: no seeds \(test_"):
        open_channels(read(CHANNEL, "x.toml", {}))


def leave(*_):
    raise SystemExit(3)


class Menuless(FakeMessenger):
    take_menu = never


def test_what_exits_while_it_is_opened_says_so(bring):
    """Without a word the process would end with its status."""
    bring("agent", AGENT=AgentKind(settings=Choosy, open=leave))
    with pytest.raises(BadConfiguration, match=r"agents.polly: it cannot be opened: SystemExit: 3 \(test_"):
        open_agents(read(AGENT, "x.toml", {}))
    bring("channel", CHANNEL=ChannelKind(open=leave))
    with pytest.raises(BadConfiguration, match=r"channels.theirs: it cannot be opened: SystemExit: 3 \(test_"):
        open_channels(read(CHANNEL, "x.toml", {}))


def test_a_channel_that_takes_no_menu_is_a_sentence(bring):
    bring("channel", CHANNEL=ChannelKind(open=lambda name, _: Menuless(name)))
    with pytest.raises(BadConfiguration, match=r"channels.theirs: it takes no menu: RuntimeError: no seeds \(test_"):
        open_channels(read(CHANNEL, "x.toml", {}))


@pytest.mark.parametrize("opens", [open_store, open_reader, open_for_operator])
def test_a_store_that_cannot_be_opened_is_a_sentence(bring, opens):
    """CH-1: without its address, which may hold a password."""
    bring("store", STORE=StoreKind(never, never, never))
    with pytest.raises(BadConfiguration) as raised:
        opens("theirs://ann:hunter2@db/x")
    assert str(raised.value).startswith(
        "gateway.store: the theirs store cannot be opened: RuntimeError: no seeds (test_code_of_others.py"
    )
    assert "; check its address" in str(raised.value)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("without", "sentence"),
    [
        ("limits", "has no `limits`, such as `limits = Limits(length=4000)`; whoever wrote it adds what docs/channels"),
        ("send", "has no `send`; whoever wrote it adds what docs/channels"),
    ],
)
def test_a_channel_that_lacks_what_every_channel_has_is_a_sentence(bring, without, sentence):
    """CH-1: `rejoinder run` says what to add."""
    there = {"name": "theirs", "limits": Limits(), "listen": never, "send": never}
    del there[without]
    bring("channel", CHANNEL=ChannelKind(open=lambda name, settings: SimpleNamespace(**there)))
    with pytest.raises(BadConfiguration) as raised:
        open_channels(read(CHANNEL, "x.toml", {}))
    assert f"channels.theirs: the channel that theirs opens {sentence}" in str(raised.value)


def test_a_module_that_a_kind_of_others_needs_is_no_extra_of_ours(bring):
    bring("agent", AGENT=AgentKind(settings=Choosy, open=Failing, needs="no_such_sdk"))
    with pytest.raises(BadConfiguration) as raised:
        open_agents(read(AGENT, "x.toml", {}))
    assert "needs the module 'no_such_sdk'" in str(raised.value)
    assert "rejoinder[" not in str(raised.value)


async def test_a_check_that_fails_is_one_finding(bring):
    """CH-12: `rejoinder doctor` goes on with the others."""
    bring("agent", AGENT=AgentKind(settings=Choosy, open=Failing))
    settings = read(f'[gateway]\nstore = "sqlite::memory:"\n{AGENT}', "x.toml", {})
    found = {each.what: each async for each in doctor.examined(settings)}
    assert not found["agents.polly"].ok
    assert found["agents.polly"].found.startswith("its check failed: RuntimeError: no seeds (test_code_of_others.py")
    assert "clock" in found


@pytest.mark.parametrize(
    ("kind", "defines", "advice"),
    [
        ("directive", {"DIRECTIVE": 1}, "DIRECTIVE = Declaration(...)"),
        ("command", {"COMMANDS": 1}, "COMMANDS = (Command(...),)"),
        ("command", {"COMMANDS": (1,)}, "COMMANDS = (Command(...),)"),
        ("hook", {"HOOKS": 1}, 'HOOKS = {"turn_ended": told}'),
        ("hook", {"HOOKS": {"turn_ended": 1}}, 'HOOKS = {"turn_ended": told}'),
    ],
)
def test_what_is_not_what_it_should_be_is_refused(bring, kind, defines, advice):
    bring(kind, **defines)
    with pytest.raises(BadConfiguration, match="the module their_module cannot be used for a") as raised:
        plugins.others(kind)
    assert advice in str(raised.value)


async def test_a_store_of_others_in_a_file_lies_where_ours_would(bring, tmp_path):
    """CH-1: beside the configuration, made by the first gateway, with the outbox beside it."""
    bring("store", STORE=StoreKind(SQLITE.open, SQLITE.read, SQLITE.operate, in_file=True))
    file = tmp_path / "rejoinder.toml"
    file.write_text('gateway.store = "theirs:kept.db"\n[agents.guide]\nkind = "tour"\n')
    settings = load(str(file), {})
    assert settings.gateway.store == f"theirs:{tmp_path}/kept.db"
    found = {each.what: each async for each in doctor.examined(settings)}
    assert found["store"].ok
    assert found["store"].found == f"{tmp_path}/kept.db will be made by the first gateway"
    assert store_file("theirs::memory:") is None


async def test_a_channel_without_a_check_needs_nothing(bring):
    bring("channel", CHANNEL=ChannelKind(open=lambda name, settings: FakeChannel(name)))
    settings = read(f'[gateway]\nstore = "sqlite::memory:"\n{CHANNEL}', "x.toml", {})
    found = {each.what: each async for each in doctor.examined(settings)}
    assert found["channels.theirs"].ok
