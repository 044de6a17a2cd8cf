"""The effective configuration can be read again, and shows no secret."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.config.load import read
from rejoinder.config.schema import Settings
from rejoinder.config.show import as_toml, effective
from rejoinder.config.wording import without_password

WHOLE = (Path(__file__).parent / "whole.toml").read_text("utf-8")
TOKENS = [
    "OPENAI_API_KEY",
    "TELEGRAM_TOKEN",
    "DISCORD_TOKEN",
    "SLACK_BOT_TOKEN",
    "SLACK_APP_TOKEN",
    "MATRIX_TOKEN",
    "N8N_TOKEN",
    "HOOK_SECRET",
]
ENVIRONMENT = {name: f"canary {name}" for name in TOKENS}


def test_the_documented_configuration():
    """The configuration in the documentation is read, and what it says is what is in effect."""
    settings = read(WHOLE, "whole.toml", ENVIRONMENT)
    assert list(settings.agents) == ["helper", "coder"]
    assert list(settings.channels) == ["web", "telegram", "discord", "slack", "matrix"]
    assert settings.agents["coder"].settings.command == ("claude-agent-acp",)
    assert settings.channels["slack"].settings.app_token.reveal() == "canary SLACK_APP_TOKEN"
    assert settings.messages.queue.by_channel == {"discord": "steer"}
    assert settings.commands.owner_allow_from == ("telegram:123456",)


def test_its_values_are_the_defaults():
    """What the documented configuration spells out for Telegram and session is the default anyway."""
    spelled = read(WHOLE, "whole.toml", ENVIRONMENT)
    bare = read('[channels.telegram]\ntoken = "${TELEGRAM_TOKEN}"', "bare.toml", ENVIRONMENT)
    assert spelled.session == bare.session
    assert spelled.directives == bare.directives
    assert spelled.messages.inbound == bare.messages.inbound
    mentioned = set(tomllib.loads(WHOLE)["channels"]["telegram"]) - {"token", "agent", "api_root"}
    for key in mentioned:
        one, other = (loaded.channels["telegram"].common for loaded in (spelled, bare))
        assert getattr(one, key) == getattr(other, key), key


@pytest.mark.parametrize("text", [WHOLE, ""])
def test_what_is_shown_can_be_read(text):
    """The effective configuration, read again, is the same, and no secret is in it."""
    settings = read(text, "whole.toml", ENVIRONMENT)
    shown = as_toml(effective(settings))
    assert read(shown, "shown.toml", ENVIRONMENT) == settings
    assert "canary" not in shown
    assert "canary" not in repr(settings)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('token = "123:abc"', '"***"'),
        ('token = "${T}"', '"${T}"'),
        ('token = "${T}:x"', '"${T}:x"'),
        ('token = "t"\nextra_system_prompt = "say ${T}"', '"say ${T}"'),
        ('token = "t"\nextra_system_prompt = "say $${T}"', '"say $${T}"'),
        ('token = "t"\napi_root = "https://me:secret@proxy/x"', '"https://me:***@proxy/x"'),
    ],
)
def test_how_secrets_are_shown(written, shown):
    """A secret is `***`, what came from the environment is as written, an address has no password."""
    settings = read(f"[channels.telegram]\n{written}", "x.toml", {"T": "canary"})
    text = as_toml(effective(settings))
    assert f" = {shown}\n" in text
    assert "canary" not in text
    assert "123:abc" not in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("address", "hidden"),
    [
        ("postgresql://u:p@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:p@ss/w@h/db", "postgresql://u:***@h/db"),
        ("postgresql://h:5432/db?user=u&password=p&x=1", "postgresql://h:5432/db?user=u&password=***&x=1"),
        ("postgresql://h/db?sslkey=k&sslpassword=p", "postgresql://h/db?sslkey=k&sslpassword=***"),
        ("postgresql://h/db?pass%77ord=p&Token=t#x", "postgresql://h/db?pass%77ord=***&Token=***#x"),
        ("http://127.0.0.1:9000/v1", "http://127.0.0.1:9000/v1"),
        ("mail me: a@b.c", "mail me: a@b.c"),
    ],
)
def test_addresses(address, hidden):
    """A password in an address is hidden, a port is not."""
    assert without_password(address) == hidden


texts = st.text(st.characters(exclude_categories=["Cs"]))
leaves = texts | st.integers() | st.booleans() | st.floats(allow_nan=False)
documents = st.dictionaries(
    texts, st.recursive(leaves, lambda more: st.lists(more) | st.dictionaries(texts, more), max_leaves=10)
)


@given(documents)
def test_any_document_becomes_toml(document):
    """Whatever keys and texts there are, the TOML that is written says the same."""
    assert tomllib.loads(as_toml(document)) == document


def test_the_defaults_can_be_shown():
    """Without a file there is a configuration too."""
    assert read(as_toml(effective(Settings())), "x.toml", {}) == Settings()
