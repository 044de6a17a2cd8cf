"""Keys laid over the file until the next start."""

from typing import Any

import pytest

from rejoinder.config.load import read
from rejoinder.config.overlay import overlaid, read_key, read_value
from rejoinder.errors import BadConfiguration, BadUse

FILE = """
[agents.a]
kind = "tour"
[channels.telegram]
token = "${TOKEN}"
[messages.queue]
mode = "collect"
cap = 7
"""


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("messages.queue.mode", ("messages", "queue", "mode")),
        ('channels.telegram.group."-100".mode', ("channels", "telegram", "group", "-100", "mode")),
        ("agents.defaults.context_tokens", ("agents", "defaults", "context_tokens")),
    ],
)
def test_a_key_is_written_as_in_the_file(said: str, path: Any) -> None:
    assert read_key(said) == path


@pytest.mark.parametrize("said", ["", "gateway", "a.", ".a", "a b.c", "a.b = 1\nc", "a.b=1", "[a]", "#"])
def test_what_is_no_key_is_told(said: str) -> None:
    with pytest.raises(BadUse, match="is not a key"):
        read_key(said)


@pytest.mark.parametrize(
    "said",
    [
        "commands.bash",
        "commands.elevated.enabled",
        "commands.owner_allow_from",
        "directives.allow",
        "channels.telegram.owners",
        "agents.a.command",
        "agents.a.system_prompt",
        '"commands".bash',
    ],
)
def test_who_may_do_what_is_said_in_the_file_alone(said: str) -> None:
    """IN-61: an owner in a chat gives nobody more than the operator gave, and starts no other program."""
    with pytest.raises(BadUse, match="can only be changed in the file"):
        read_key(said)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("1", 1),
        ("true", True),
        ('"x"', "x"),
        ("[1, 2]", [1, 2]),
        ("steer", "steer"),
        ("a = b", "a = b"),
        ("1\n2", "1\n2"),
    ],
)
def test_a_value_is_toml_or_a_text(said: str, value: Any) -> None:
    assert read_value(said) == value


def test_what_is_laid_over_a_document_leaves_it_alone() -> None:
    document = {"a": {"b": {"c": 1}, "d": 2}, "e": 3}
    assert overlaid(document, {("a", "b", "c"): 9, ("e", "f"): 8}) == {"a": {"b": {"c": 9}, "d": 2}, "e": {"f": 8}}
    assert document == {"a": {"b": {"c": 1}, "d": 2}, "e": 3}


def test_the_whole_is_checked_as_one_file() -> None:
    """What the file says besides holds; nothing of the environment comes in by this door."""
    environment = {"TOKEN": "swordfish"}
    overlay = {("messages", "queue", "mode"): "steer", ("messages", "response_prefix"): "${TOKEN}"}
    settings = read(FILE, "f", environment, overlay=overlay)
    assert (settings.messages.queue.mode, settings.messages.queue.cap) == ("steer", 7)
    assert settings.messages.response_prefix == "${TOKEN}"
    with pytest.raises(BadConfiguration, match=r"messages\.queue\.mod"):
        read(FILE, "f", environment, overlay={("messages", "queue", "mod"): "steer"})
