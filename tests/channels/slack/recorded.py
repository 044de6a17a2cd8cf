"""Payloads as Slack sends them, each in a file named for what happened."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from rejoinder.channels.slack import parse
from rejoinder.channels.slack.parse import BotIdentity
from rejoinder.channels.slack.wire import Command, Pressed
from rejoinder.events import Inbound

FOLDER = Path(__file__).parents[2] / "payloads" / "slack"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
ME = BotIdentity("slack", "U0TESTBOT", "B0TESTBOT", "testbot")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def raw(name: str) -> dict[str, Any]:
    return msgspec.json.decode((FOLDER / f"{name}.json").read_bytes())


def heard(name: str, me: BotIdentity = ME) -> Inbound | None:
    payload = raw(name)
    if "command" in payload:
        return parse.command(msgspec.convert(payload, Command), me, NOW)
    if payload["type"] == "event_callback":
        return parse.event(payload["event"], me)
    return parse.pressed(msgspec.convert(payload, Pressed), me, NOW)
