"""What is written in the file is what the floors decide by."""

from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.config.floors import inbound_settings
from rejoinder.config.load import read
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.inbound.rules import AgentProfile, Rules, make_rules
from tests.inbound.floor import outcome, send

FILE = """
[agents.helper]
kind = "tour"

[channels.telegram]
token = "${TOKEN}"
agent = "helper"
dm = "allowlist"
allow = ["2", "telegram:3"]
allow_groups = ["-100"]
group = { "-100" = { require_mention = false }, "-101" = { mode = "off" } }

[channels.office]
kind = "slack"
bot_token = "${TOKEN}"
app_token = "${TOKEN}"
agent = "helper"
allow = ["slack:U045VRZFT"]

[commands]
owner_allow_from = ["telegram:1", "office:U0AAAAAAA"]
allow_from = { telegram = ["2"] }

[session]
reset_triggers = ["/fresh"]

[messages.send_policy]
rules = [{ action = "deny", channel = "office", chat = "direct" }]
"""


@pytest.fixture(scope="module")
def rules() -> Rules:
    return make_rules(inbound_settings(read(FILE, "rejoinder.toml", {"TOKEN": "x"})), (AgentProfile("helper"),))


@pytest.mark.parametrize(
    ("channel", "sender", "chat", "text", "expected"),
    [
        ("telegram", "1", None, "/restart", "answer"),
        ("telegram", "2", None, "/status", "answer"),
        ("telegram", "3", None, "/status", "drop"),
        ("telegram", "3", None, "hello", "turn"),
        ("telegram", "4", None, "hello", "drop"),
        ("telegram", "4", Chat("-100", "group"), "hello", "turn"),
        ("telegram", "4", Chat("-101", "group"), "hello", "drop"),
        ("telegram", "2", None, "/fresh start", "turn"),
        ("office", "U045VRZFT", None, "/status", "answer"),
        ("office", "U045VRZFT", None, "hello", "drop"),
        ("office", "U0AAAAAAA", None, "/restart", "answer"),
        ("office", "1", None, "/restart", "drop"),
        ("elsewhere", "1", None, "hello", "drop"),
    ],
)
def test_a_file_decides(rules: Rules, channel: str, sender: str, chat: Any, text: str, expected: str) -> None:
    """IN-10, IN-13, IN-30, IN-33, IN-42, IN-75: from the file to the decision."""
    said = Inbound(channel, "e1", "m1", chat or Chat(sender), Sender(sender), text)
    assert outcome(send(said, rules)) == expected


def test_accounts_count(rules: Rules) -> None:
    """IN-10: the short form means any account."""
    said = replace(Inbound("telegram", "e1", "m1", Chat("2"), Sender("2"), "hello"), account="second")
    assert outcome(send(said, rules)) == "turn"
