"""Telegram's world: people, chats and messages, and how the Bot API writes them."""

import re
from typing import Any
from zlib import crc32

from msgspec import Struct

from rejoinder.testing.platform.truth import BOT

TOKEN = "700000001:a-token-for-tests-only_0123456789ab"
BOT_ID, BOT_NAME = 700000001, "testbot"
BOT_USER: dict[str, Any] = {"id": BOT_ID, "is_bot": True, "first_name": "Test Bot", "username": BOT_NAME}
FIRST_DATE = 1_760_000_000


def person_id(name: str) -> int:
    """The same in every process, so that a configuration can be written before the first message."""
    return 100_000_000 + crc32(name.encode()) % 500_000_000


def group_id(name: str) -> int:
    return -(1_000_000_000_000 + crc32(name.encode()))


class Stored(Struct):
    """A message. `body` is what kind of message it is, as the Bot API writes it: text, photo, caption."""

    id: int
    by: str
    date: int
    body: dict[str, Any]
    thread: int | None = None
    reply_to: int | None = None
    markup: dict[str, Any] | None = None
    reaction: str = ""
    edit_date: int | None = None


class Room(Struct):
    id: int
    name: str
    type: str
    messages: dict[int, Stored] = {}
    last: int = 0
    topics: set[int] = set()
    closed: str = ""
    """Why the bot has no access any more, in Telegram's words."""
    moved_to: int | None = None

    @property
    def in_private(self) -> bool:
        return self.type == "private"


class World:
    def __init__(self) -> None:
        self.rooms: dict[int, Room] = {}
        self.people: dict[str, int] = {}
        self._date = FIRST_DATE

    def id_of(self, name: str) -> int:
        """The id of a person, which is also that of the direct chat; a name like `#team` is that of a group."""
        return group_id(name) if name.startswith("#") else person_id(name)

    def room(self, name: str) -> Room:
        id = self.id_of(name)
        if id not in self.rooms:
            first = crc32(b"first" + name.encode()) % 5000  # ids of different chats do not look alike
            self.rooms[id] = Room(id, name, "supergroup" if id < 0 else "private", last=first)
        return self.rooms[id]

    def name_of(self, id: object) -> str:
        room = self.rooms.get(id) if isinstance(id, int) else None
        return room.name if room is not None else ""

    def add(self, room: Room, by: str, body: dict[str, Any], thread: int | None, reply_to: int | None) -> Stored:
        self._date += 1
        room.last += 1
        if thread is not None:
            room.topics.add(thread)
        stored = Stored(room.last, by, self._date, body, thread, reply_to)
        room.messages[stored.id] = stored
        return stored

    def now(self) -> int:
        self._date += 1
        return self._date

    # --- as the Bot API writes them ---------------------------------------------------------------

    def user(self, name: str) -> dict[str, Any]:
        if name == BOT:
            return BOT_USER
        return {"id": person_id(name), "is_bot": False, "first_name": name.capitalize(), "username": name}

    def chat(self, room: Room) -> dict[str, Any]:
        if room.in_private:
            return {"id": room.id, "type": "private", "first_name": room.name.capitalize(), "username": room.name}
        forum = {"is_forum": True} if room.topics else {}
        return {"id": room.id, "type": room.type, "title": room.name.removeprefix("#").capitalize(), **forum}

    def message(self, room: Room, stored: Stored, *, quoted: bool = False) -> dict[str, Any]:
        written: dict[str, Any] = {
            "message_id": stored.id,
            "from": self.user(stored.by),
            "chat": self.chat(room),
            "date": stored.date,
            **stored.body,
        }
        if stored.thread is not None:
            written |= {"message_thread_id": stored.thread, "is_topic_message": True}
        if stored.edit_date is not None:
            written["edit_date"] = stored.edit_date
        if stored.markup is not None:
            written["reply_markup"] = stored.markup
        if stored.reply_to is not None and not quoted and stored.reply_to in room.messages:
            written["reply_to_message"] = self.message(room, room.messages[stored.reply_to], quoted=True)
        return written


# --- what Telegram finds in a text by itself -----------------------------------------------------

_FOUND = re.compile(
    r"(?<!\w)(?P<url>https?://[^\s/@]+\.[^\s/@]+/\S*)|(?<!\w)@(?P<mention>\w{2,32})\b|(?<!\S)(?P<command>/\w{1,32}(?:@\w+)?)",
    re.ASCII,
)


def found_entities(text: str, given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Links, names and commands, but not in code."""
    code = [(entity["offset"], entity["offset"] + entity["length"]) for entity in given if _is_code(entity)]
    found: list[dict[str, Any]] = []
    for match in _FOUND.finditer(text):
        start, end = units(text[: match.start()]), units(text[: match.end()])
        if not any(first <= start and end <= last for first, last in code):
            kind = "url" if match["url"] else "mention" if match["mention"] else "bot_command"
            found.append({"type": kind, "offset": start, "length": end - start})
    return found


def pinged(text: str, entities: list[dict[str, Any]]) -> tuple[str, ...]:
    """The people whom this text pings."""
    wide = text.encode("utf-16-le")
    return tuple(
        wide[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")
        for entity in entities
        if entity["type"] in ("mention", "text_mention")
    )


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _is_code(entity: dict[str, Any]) -> bool:
    return entity["type"] in ("code", "pre")
