"""Refuses what Telegram refuses, in Telegram's words."""

import re
from typing import Any, NoReturn

from rejoinder.channels.telegram.emoji import ALLOWED
from rejoinder.documents import is_array
from rejoinder.testing.platform.telegram.world import Room, World, units

MOST_UNITS = 4096
MOST_ENTITIES = 100
"""Telegram ignores entities beyond these."""
MOST_DATA = 64
FOUND_BY_ITSELF = ("mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number")
FORMATS = ("bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "text_link", "text_mention")
QUOTES = ("blockquote", "expandable_blockquote")
ENTITIES = frozenset((*FOUND_BY_ITSELF, *FORMATS, *QUOTES))
SECOND_READER = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
HAS_WEBHOOK = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)
NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a "
    "current content and reply markup of the message"
)


# Characters that Telegram does not treat as blank.
_SEEN = re.compile("[^\\s\x00-\x1f\u180e\u200b-\u200f\u202a-\u202e\u2800\ufeff\ufffc\U000e0000-\U000e007f]")


class Refusal(Exception):
    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.parameters = parameters


def bad(words: str) -> NoReturn:
    raise Refusal(400, f"Bad Request: {words}")


def known_room(world: World, payload: dict[str, Any]) -> Room:
    chat = payload.get("chat_id")
    if chat is None:
        bad("chat_id is empty")
    if not isinstance(chat, int) or chat not in world.rooms:
        bad("chat not found")
    room = world.rooms[chat]
    if room.moved_to is not None:
        raise Refusal(
            400,
            "Bad Request: group chat was upgraded to a supergroup chat",
            migrate_to_chat_id=room.moved_to,
        )
    if room.closed:
        raise Refusal(403, f"Forbidden: {room.closed}")
    thread = payload.get("message_thread_id")
    if thread is not None and thread not in room.topics:
        bad("message thread not found")
    return room


def shown_text(payload: dict[str, Any]) -> str:
    """The text as it will appear in the chat."""
    text = payload.get("text")
    if not isinstance(text, str) or not text:
        bad("message text is empty")
    check_entities(text, payload.get("entities", []))
    shown = text.rstrip() if payload.get("entities") else text.strip()
    if not _SEEN.search(shown):
        bad("text must be non-empty")
    if units(shown) > MOST_UNITS:
        bad("message is too long")
    return shown


def check_entities(text: str, entities: Any) -> None:
    """Entities are in bounds, between characters, of a known type, and nested or apart."""
    if not is_array(entities):
        bad("can't parse entities: expected an Array")
    wide = text.encode("utf-16-le")
    length = len(wide) // 2
    open_ends: list[tuple[int, int]] = []
    for entity in sorted(entities, key=lambda each: (each.get("offset", 0), -each.get("length", 0))):
        kind, start, size = entity.get("type"), entity.get("offset"), entity.get("length")
        if kind not in ENTITIES:
            bad("can't parse MessageEntity: Unsupported type specified")
        if kind == "text_link" and not entity.get("url"):
            bad("can't parse MessageEntity: Can't find field \"url\"")
        if not isinstance(start, int) or start < 0 or not isinstance(size, int) or size <= 0:
            bad("can't parse MessageEntity: incorrect offset or length")
        end = start + size
        if start >= length:
            bad(f"entity begins after the end of the text at UTF-16 offset {start}")
        if _splits(wide, start):
            bad(f"entity begins in a middle of a UTF-16 symbol at UTF-16 offset {start}")
        while open_ends and open_ends[-1][1] <= start:
            open_ends.pop()
        if end > length or (open_ends and end > open_ends[-1][1]):
            bad(f"entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {end}")
        if _splits(wide, end):
            bad(f"entity beginning at UTF-16 offset {start} ends in a middle of a UTF-16 symbol at UTF-16 offset {end}")
        open_ends.append((start, end))


def _splits(wide: bytes, at: int) -> bool:
    """Whether there is the second half of a pair at this place."""
    unit = int.from_bytes(wide[2 * at : 2 * at + 2], "little")
    return 0xDC00 <= unit <= 0xDFFF


def check_markup(markup: dict[str, Any] | None) -> None:
    rows: list[list[dict[str, Any]]] = (markup or {}).get("inline_keyboard", [])
    for row in rows:
        for button in row:
            if not button.get("text"):
                bad("can't parse inline keyboard button: Text must be non-empty")
            data = button.get("callback_data", "")
            if not 0 < len(data.encode()) <= MOST_DATA:
                bad("BUTTON_DATA_INVALID")


def check_reaction(reaction: Any) -> str:
    """A bot has at most one, of the set that is free to all."""
    if len(reaction) > 1:
        bad("REACTIONS_TOO_MANY")
    if not reaction:
        return ""
    emoji: str = reaction[0].get("emoji", "")
    if reaction[0].get("type") != "emoji" or emoji not in ALLOWED:
        bad("REACTION_INVALID")
    return emoji
