"""The reader agrees with the records' own decoder, and each kind of value is taken as declared."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.agents.openai import Settings as OpenAISettings
from rejoinder.channels.declaration import ChannelKind
from rejoinder.config.channels import ReplyToModes
from rejoinder.config.kinds import INSTALLED, Kinds
from rejoinder.config.load import read
from rejoinder.config.reading import SectionReader
from rejoinder.config.schema import (
    SECTIONS,
    AgentDefaults,
    CommandsSettings,
    CommonChannelSettings,
    MessagesSettings,
)
from rejoinder.errors import BadConfiguration
from rejoinder.secret import Secret
from rejoinder.session import SessionSettings

PLAIN = [SessionSettings, MessagesSettings, CommandsSettings, AgentDefaults, CommonChannelSettings]


def values_for(record) -> st.SearchStrategy:
    names = sorted(record.__struct_fields__)
    words = ["never", "daily", "off", "on", "collect", "per-chat", "allow", "x", "", "UTC"]
    leaves = st.sampled_from(words) | st.integers(-2, 100) | st.booleans() | st.floats(0, 10)
    keys = st.sampled_from([*names, "mode", "thread", "rules", "action", "zone", "debounce_ms", "nonsense"])
    inner = st.recursive(
        leaves,
        lambda more: st.lists(more, max_size=2) | st.dictionaries(keys, more, max_size=3),
        max_leaves=6,
    )
    return st.dictionaries(st.sampled_from([*names, "nonsense"]), inner, max_size=4)


@pytest.mark.parametrize("record", PLAIN)
@settings(max_examples=50)
@given(st.data())
def test_the_reader_agrees_with_the_records_decoder(record, data):
    """What the decoder takes the reader takes, to the same record; what one refuses the other refuses."""
    raw = data.draw(values_for(record))
    reader = SectionReader("x.toml", {})
    (read_record,) = reader.records(raw, ("x",), record)
    try:
        decoded = msgspec.convert(raw, record)
    except msgspec.ValidationError:
        assert reader.mistakes
    else:
        assert not reader.mistakes
        assert read_record == decoded


def channel(text: str, environment=None):
    document = f"[channels.web]\n{text}\n"
    return read(document, "x.toml", environment or {}).channels["web"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"first"', "first"),
        ('{ group = "all" }', ReplyToModes(group="all")),
        ('"${MODE}"', "off"),
    ],
)
def test_a_word_or_a_table(written, value):
    """A key may take a word or a table."""
    assert channel(f"reply_to_mode = {written}", {"MODE": "off"}).common.reply_to_mode == value


@pytest.mark.parametrize(
    ("key", "set_to", "value"),
    [("port", "80", 80), ("port", " 80 ", 80), ("require_mention", "TRUE", True), ("host", "::1", "::1")],
)
def test_values_from_the_environment(key, set_to, value):
    """The environment knows only texts: a number or a truth is read from one."""
    taken = channel(f'{key} = "${{X}}"', {"X": set_to})
    assert getattr(taken.common if key == "require_mention" else taken.settings, key) == value


def test_parts_of_a_text():
    """A variable may be part of a text, several may stand in one, and `$${` is a plain `${`."""
    taken = channel('extra_system_prompt = "${A}-${B} $${A} $5 {x}"', {"A": "1", "B": "${A}"})
    assert taken.common.extra_system_prompt == "1-${A} ${A} $5 {x}"


def test_the_kind_gives_common_keys_its_own_defaults():
    """The web page lets in whoever may open it; Telegram asks for pairing."""
    settings = read('[channels.web]\n[channels.telegram]\ntoken = "t"', "x.toml", {})
    assert settings.channels["web"].common.dm == "open"
    assert settings.channels["telegram"].common.dm == "pairing"
    asked = read('[channels.web]\ndm = "off"', "x.toml", {}).channels["web"]
    assert (asked.common.dm, asked.settings.dm) == ("off", "off")


def test_a_second_channel_of_a_kind():
    """A channel with a name of its own says its kind."""
    settings = read('[channels.work]\nkind = "discord"\ntoken = "t"', "x.toml", {})
    assert settings.channels["work"].kind == "discord"
    assert settings.channels["work"].settings.token.reveal() == "t"


@pytest.mark.parametrize(
    ("text", "agent", "bot_messages"),
    [
        ("", None, "off"),
        ('[agents.a]\nkind = "tour"', "a", "off"),
        ('agent = "b"\n[agents.a]\nkind = "tour"\n[agents.b]\nkind = "tour"', "b", "off"),
        ('agents = ["a", "b"]\n[agents.a]\nkind = "tour"\n[agents.b]\nkind = "tour"', None, "mentions"),
    ],
)
def test_what_follows_from_other_keys(text, agent, bot_messages):
    """IN-21: the only agent answers everywhere; among agents of our own, bots that mention are heard."""
    common = channel(text).common
    assert (common.agent, common.bot_messages) == (agent, bot_messages)


def test_kinds_of_others():
    """A kind that somebody else has made is read by its own record."""

    class Zulip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        site: str

    kinds = Kinds(INSTALLED.agents, {"zulip": ChannelKind(settings=Zulip)})
    settings = read('[channels.zulip]\nsite = "s"\nallow = ["zulip:1"]', "x.toml", {}, kinds)
    assert settings.channels["zulip"].settings == Zulip("s")
    with pytest.raises(BadConfiguration, match='there is no such key; did you mean "site"'):
        read('[channels.zulip]\nsit = "s"', "x.toml", {}, kinds)


def test_secrets_are_secret():
    """A key whose name says that it is a secret is one: it cannot be printed by mistake."""
    kinds = [*INSTALLED.agents.values(), *INSTALLED.channels.values()]
    for record in [*SECTIONS.values(), *(kind.settings for kind in kinds), CommonChannelSettings]:
        for field in msgspec.structs.fields(record):
            if field.name.endswith(("token", "key", "password", "secret", "env", "headers")):
                assert "Secret" in str(field.type) or field.name in ("main_key", "pass_env"), (record, field.name)


def test_a_secret_does_not_leak():
    """Neither printing nor formatting nor encoding shows a secret."""
    agent = read('[agents.a]\nkind="openai"\nmodel="m"\napi_key="${K}"', "x.toml", {"K": "canary"}).agents["a"]
    secret = agent.settings.api_key
    assert secret.reveal() == "canary"
    assert "canary" not in f"{agent} {secret} {secret!r} {secret!s}"
    with pytest.raises(TypeError, match="Secret"):
        msgspec.json.encode(agent)
    assert agent.settings == OpenAISettings(model="m", api_key=Secret("canary"))
    assert hash(Secret("a")) == hash(Secret("a"))
    assert Secret("a") != "a"
