"""Payloads as Telegram sends them, each in a file named for what happened."""

from pathlib import Path

from rejoinder.channels.telegram.intake import read
from rejoinder.channels.telegram.parse import BotIdentity
from rejoinder.channels.telegram.wire import Update

FOLDER = Path(__file__).parents[2] / "payloads" / "telegram"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
ME = BotIdentity("telegram", "700000001", "testbot")


def raw(name: str) -> bytes:
    return (FOLDER / f"{name}.json").read_bytes()


def update(name: str) -> Update:
    return read(raw(name))
