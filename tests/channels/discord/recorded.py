"""Events as Discord sends them, each in a file named for what happened."""

from pathlib import Path
from typing import Any

import msgspec

from rejoinder.channels.discord.parse import BotIdentity, EventPlace, parse_edit, parse_message, parse_reaction
from rejoinder.channels.discord.places import Place
from rejoinder.channels.discord.wire import Message, Reaction, convert
from rejoinder.events import Inbound

FOLDER = Path(__file__).parents[2] / "payloads" / "discord"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
ME = BotIdentity("discord", "1402345678901234567", "testbot", frozenset({"1402345678901234000"}))
TEAM = EventPlace("1491365150664560881", Place("text", name="team", guild="1391365150664560800"), "team")
DIRECT = EventPlace("1450000000000000001", Place("direct"))
THREAD = EventPlace("1502606076451885136", Place("thread", parent="1491365150664560881", name="release"), "team")
PLACES = {where.id: where for where in (TEAM, DIRECT, THREAD)}


def event(name: str) -> tuple[str, Any]:
    kept = msgspec.json.decode((FOLDER / f"{name}.json").read_bytes())
    return kept["t"], kept["d"]


def parsed(name: str) -> Inbound | None:
    kind, data = event(name)
    where = PLACES[data["channel_id"]]
    if kind == "MESSAGE_REACTION_ADD":
        return parse_reaction(convert(data, Reaction), where, ME, "s:1")
    message = convert(data, Message)
    return (parse_message if kind == "MESSAGE_CREATE" else parse_edit)(message, where, ME)
