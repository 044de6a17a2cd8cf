"""surface.md, Configuration: "Reload on change for what can change": which keys those are."""

from importlib import import_module

import pytest
from msgspec.structs import replace

from rejoinder.config.agents import AgentDefaults
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.jobs import EveryAgent
from rejoinder.config.kinds import channel_kinds
from rejoinder.config.live import AT_ONCE, WHEN, apply_changes, markdown_table
from rejoinder.config.load import read
from rejoinder.config.schema import SECTIONS, Settings

OLD = """
[agents.one]
kind = "openai"
model = "a"
api_key = "sk-old"
[agents.two]
kind = "tour"
[channels.web]
agents = ["one", "two"]
[channels.telegram]
token = "t-old"
agent = "one"
"""

THREE = '\n[agents.three]\nkind = "tour"\n'

RECORDS = {**SECTIONS, "agents.defaults": AgentDefaults, "channels.NAME": CommonChannelSettings}


def settings(text: str = OLD) -> Settings:
    return read(text, "rejoinder.toml", {})


def test_every_key_is_decided_and_no_other():
    """A key that is added is decided by whoever adds it."""
    decided = {section: set(keys) - {"kind", "*"} for section, keys in WHEN.items()}
    assert decided.pop("agents.NAME") == set(EveryAgent.__struct_fields__)
    assert decided.pop("cron.NAME") == set()
    assert decided.pop("hooks.NAME") == set()
    assert decided == {section: set(record.__struct_fields__) for section, record in RECORDS.items()}
    assert "*" in WHEN["agents.NAME"]
    assert "*" in WHEN["channels.NAME"]
    assert "*" in WHEN["cron.NAME"]
    assert "*" in WHEN["hooks.NAME"]


@pytest.mark.parametrize(
    ("section", "key"),
    [(section, key) for section in (*SECTIONS, "agents.defaults") for key in WHEN[section] if key != "describer"],
)
def test_a_changed_key_holds_at_once_or_is_named_and_keeps_its_value(section, key):
    where = "agent_defaults" if section == "agents.defaults" else section
    old, marker = Settings(), object()
    taken = apply_changes(old, replace(old, **{where: replace(getattr(old, where), **{key: marker})}))
    name = f"{section}.{key}"
    if WHEN[section][key] is AT_ONCE:
        assert (taken.now, taken.later) == ((name,), ())
        assert getattr(getattr(taken.settings, where), key) is marker
    else:
        assert (taken.now, taken.later) == ((), (name,))
        assert taken.settings == old


@pytest.mark.parametrize(
    ("change", "now", "later"),
    [
        (("", ""), (), ()),
        (('model = "a"', 'model = "b"'), ("agents.one.model",), ()),
        (('"sk-old"', '"sk-new"'), ("agents.one.api_key",), ()),
        (('"t-old"', '"t-new"'), (), ("channels.telegram.token",)),
        (('"t-old"', '"t-old"\nallow = ["1"]'), ("channels.telegram.allow",), ()),
        (('agent = "one"', 'agent = "two"'), ("channels.telegram.agent",), ()),
        (('["one", "two"]', '["two", "one"]'), (), ("channels.web.agents",)),
        (('kind = "tour"', 'kind = "python"\ncall = "m:f"'), (), ("agents.two.kind",)),
        (("[channels.telegram]", "[channels.bot]\nkind = 'telegram'"), (), ("channels.telegram", "channels.bot")),
        (
            ('kind = "tour"', 'kind = "tour"\n[agents.three]\nkind = "tour"'),
            (),
            ("agents.three",),
        ),
        (
            ('agent = "one"', 'agents = ["one", "three"]\n[agents.three]\nkind="tour"'),
            (),
            ("channels.telegram.agents", "agents.three"),
        ),
    ],
)  # fmt: skip
def test_agents_and_channels(change, now, later):
    taken = apply_changes(settings(), settings(OLD.replace(*change)))
    assert (taken.now, taken.later) == (now, later)


@pytest.mark.parametrize(
    ("before", "after", "now", "later", "holds"),
    [
        ("", "two", ("agents.defaults.describer",), (), "two"),
        ("two", "", ("agents.defaults.describer",), (), None),
        ("one", "three", (), ("agents.defaults.describer", "agents.three"), "one"),
    ],
)
def test_who_puts_pictures_into_words(before, after, now, later, holds):
    """Another one at once, but for one that does not run yet."""

    def named(name: str) -> str:
        said = f'\n[agents.defaults]\ndescriber = "{name}"' if name else ""
        return OLD + said + (THREE if name == "three" else "")

    taken = apply_changes(settings(named(before)), settings(named(after)))
    assert (taken.now, taken.later, taken.settings.agent_defaults.describer) == (now, later, holds)


JOB = '\n[cron.tidy]\nprompt = "Tidy."\nevery = "1h"\nagent = "one"\n'


@pytest.mark.parametrize(
    ("before", "after", "now", "later", "every"),
    [
        ("", JOB, ("cron.tidy",), (), "1h"),
        (JOB, "", ("cron.tidy",), (), None),
        (JOB, JOB.replace("1h", "2h"), ("cron.tidy",), (), "2h"),
        ("", JOB.replace("one", "three") + THREE, (), ("cron.tidy", "agents.three"), None),
        (JOB, JOB.replace("one", "three").replace("1h", "2h") + THREE, (), ("cron.tidy", "agents.three"), "1h"),
        ("", "[agents.one.heartbeat]", ("agents.one.heartbeat",), (), None),
        ("[agents.one.heartbeat]", "", ("agents.one.heartbeat",), (), None),
    ],
)
def test_jobs_of_the_clock(before, after, now, later, every):
    """TU-27: they come, change and go at once, but for those of an agent that does not run yet."""
    taken = apply_changes(settings(OLD + before), settings(OLD + after))
    assert (taken.now, taken.later) == (now, later)
    assert {job.every for job in taken.settings.cron.values()} == ({every} if every else set())


def test_what_waits_is_told_again_and_what_holds_is_not():
    """A second look at the same file finds what the first one left."""
    changed = settings(OLD.replace('"t-old"', '"t-new"').replace('"a"', '"b"'))
    first = apply_changes(settings(), changed)
    second = apply_changes(first.settings, changed)
    assert (second.now, second.later) == ((), ("channels.telegram.token",))


def test_what_holds_is_whole_whatever_changes():
    """No channel has an agent that does not run: between any two good files."""
    other = settings('[agents.three]\nkind = "tour"\n[channels.telegram]\ntoken = "t"\nagent = "three"')
    taken = apply_changes(settings(), other)
    for channel in taken.settings.channels.values():
        assert {*channel.common.agents, channel.common.agent} <= {*taken.settings.agents, None}


def test_the_docs_name_every_key_that_waits():
    table = markdown_table()
    for section, keys in WHEN.items():
        for key, why in keys.items():
            assert (f"`{section}.{key}`" in table) is (why is not AT_ONCE and key != "*")
    for name, kind in channel_kinds().items():
        for key, why in kind.waits.items():
            assert f"`channels.{name}.{key}`" in table
            assert why in table


def test_a_kind_of_channel_says_which_keys_of_all_channels_wait_there(monkeypatch):
    """CH-1: a channel of any package, and not the configuration, knows that."""
    assert all(set(kind.waits) <= set(CommonChannelSettings.__struct_fields__) for kind in channel_kinds().values())
    telegram = import_module("rejoinder.channels.telegram")
    old, new = settings(), settings(OLD.replace("[channels.telegram]", "[channels.telegram]\nrequire_mention = false"))
    assert apply_changes(old, new).now == ("channels.telegram.require_mention",)
    monkeypatch.setattr(telegram, "CHANNEL", replace(telegram.CHANNEL, waits={"require_mention": "it is asked once"}))
    assert apply_changes(old, new).later == ("channels.telegram.require_mention",)
    assert "| `channels.telegram.require_mention` | it is asked once |" in markdown_table()
