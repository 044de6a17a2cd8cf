"""Slack's world: people, channels and messages, and how its API writes them."""

import re
import time
from typing import Any
from zlib import crc32

from msgspec import Struct

from rejoinder.testing.platform.truth import BOT

BOT_TOKEN, APP_TOKEN = "xoxb-1-for-tests-only", "xapp-1-for-tests-only"
SIGNING_SECRET = "a-signing-secret-for-tests"
TEAM, APP = "T0TEAM001", "A0APP0001"
BOT_USER, BOT_ID, BOT_NAME = "U0TESTBOT", "B0TESTBOT", "testbot"
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def made_id(letter: str, name: str) -> str:
    """The same in every process, so that a configuration can be written before the first message."""
    number, digits = crc32(name.encode()), ""
    while number:
        number, rest = divmod(number, 36)
        digits = _DIGITS[rest] + digits
    return f"{letter}0{digits.rjust(7, '0')}"


class Stored(Struct):
    """A message as Slack stores it."""

    ts: str
    by: str
    text: str
    thread: str | None = None
    blocks: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    metadata: dict[str, Any] | None = None
    edited: str = ""
    reactions: dict[str, list[str]] = {}
    streaming: str = ""
    more: dict[str, Any] = {}
    bot: bool = False
    """Somebody else's bot wrote it."""
    hidden_until: float = 0.0
    """The time before which history does not show it."""


class Room(Struct):
    id: str
    name: str
    messages: dict[str, Stored] = {}
    error: str = ""
    """Why the app can no longer write here, in Slack's word."""

    @property
    def is_direct(self) -> bool:
        return self.id.startswith("D")


class World:
    def __init__(self) -> None:
        self.rooms: dict[str, Room] = {}
        self.people: dict[str, str] = {}  # names by id
        self._last = 0

    def id_of(self, name: str) -> str:
        """The id of a person; a name like `#team` is that of a channel."""
        if name == BOT:
            return BOT_USER
        if name.startswith("#"):
            return made_id("C", name)
        id = made_id("U", name)
        self.people[id] = name
        return id

    def room(self, name: str) -> Room:
        id = made_id("C", name) if name.startswith("#") else made_id("D", name)
        if id not in self.rooms:
            self.rooms[id] = Room(id, name)
        return self.rooms[id]

    def name_of(self, id: object) -> str:
        room = self.rooms.get(id) if isinstance(id, str) else None
        return room.name if room is not None else ""

    def now(self) -> str:
        """A new timestamp; no two are the same."""
        self._last = max(self._last + 1, int(time.time() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def add(self, room: Room, by: str, text: str, thread: str | None = None, **how: Any) -> Stored:
        stored = Stored(self.now(), by, text, thread, **how)
        room.messages[stored.ts] = stored
        return stored

    def replies(self, room: Room, ts: str) -> list[Stored]:
        return [each for each in room.messages.values() if each.thread == ts and each.ts != ts]

    # --- as Slack writes them ---------------------------------------------------------------------

    def message(self, room: Room, stored: Stored, *, metadata: bool = False) -> dict[str, Any]:
        written: dict[str, Any] = {"type": "message", "ts": stored.ts, "text": stored.text, "team": TEAM, **stored.more}
        if stored.by == BOT:
            written |= {
                "user": BOT_USER,
                "bot_id": BOT_ID,
                "app_id": APP,
                "bot_profile": {"id": BOT_ID, "name": BOT_NAME},
            }
        elif stored.bot:
            written |= {"bot_id": made_id("B", stored.by), "user": self.id_of(stored.by), "app_id": "A0OTHER"}
        else:
            written |= {"user": self.id_of(stored.by), "client_msg_id": f"c-{stored.ts}"}
        if stored.thread is not None:
            written["thread_ts"] = stored.thread
            parent = room.messages.get(stored.thread)
            if parent is not None and parent is not stored:
                written["parent_user_id"] = self.id_of(parent.by)
        if under := self.replies(room, stored.ts):
            written |= {"thread_ts": stored.ts, "reply_count": len(under), "latest_reply": under[-1].ts}
        if stored.blocks:
            written["blocks"] = stored.blocks
        if stored.files:
            written["files"] = stored.files
        if stored.edited:
            written["edited"] = {"user": written.get("user", ""), "ts": stored.edited}
        if stored.streaming:
            written["streaming_state"] = stored.streaming
        if metadata and stored.metadata is not None:
            written["metadata"] = stored.metadata
        return written

    def person(self, id: str) -> dict[str, Any]:
        if id == BOT_USER:
            return {"id": id, "name": BOT_NAME, "is_bot": True, "profile": {"display_name": BOT_NAME}}
        name = self.people.get(id, id)
        shown = {"display_name": name.capitalize(), "real_name": f"{name.capitalize()} Example"}
        return {"id": id, "team_id": TEAM, "name": name, "real_name": shown["real_name"], "profile": shown}

    # --- what people type, and what they see -------------------------------------------------------

    def typed(self, text: str) -> str:
        """A text as Slack's client encodes it."""
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        named = {name: id for id, name in self.people.items()} | {BOT_NAME: BOT_USER}
        encoded = re.sub(r"@(\w+)", lambda m: f"<@{named[m[1]]}>" if m[1] in named else m[0], escaped)
        encoded = re.sub(r"(?<!\S)@(channel|here|everyone)\b", r"<!\1>", encoded)
        return re.sub(r"https?://[^\s<>|]+", lambda m: f"<{m[0]}>", encoded)


_ANGLES = re.compile(r"<([@!#][^<>|]*|https?://[^<>|]*|mailto:[^<>|]*)(?:\|([^<>]*))?>")


def shown(text: str) -> str:
    """What people read."""
    plain = _ANGLES.sub(lambda found: found[2] or found[1], text)
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def pinged(text: str) -> tuple[str, ...]:
    return tuple(found[1] for found in _ANGLES.finditer(text) if found[1][0] in "@!")
