"""What Discord refuses, with its own numbers and words."""

from collections.abc import Sequence
from typing import Any, NoReturn

import emoji

from rejoinder.testing.platform.discord.world import Room, World

MOST_CONTENT, MOST_NONCE, MOST_LABEL, MOST_ID, MOST_OPTIONS = 2000, 25, 80, 100, 25
EPHEMERAL = 1 << 6


class Refusal(Exception):
    def __init__(self, status: int, code: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.body = {"message": message, "code": code, **more}


def unknown_message() -> NoReturn:
    raise Refusal(404, 10008, "Unknown Message")


def invalid(field: str, code: str, message: str) -> NoReturn:
    """50035, with the fault at its place in the form."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for name in reversed(field.split(".")):
        errors = {name: errors}
    raise Refusal(400, 50035, "Invalid Form Body", errors=errors)


def known_room(world: World, id: str, bot: str) -> Room:
    room = world.rooms.get(id)
    if room is None or (room.bot and not room.parent and room.bot != bot):
        raise Refusal(404, 10003, "Unknown Channel")
    around = world.rooms[room.parent] if room.parent else room
    if code := room.closed or around.closed:
        raise Refusal(403, code, {50001: "Missing Access", 50013: "Missing Permissions"}.get(code, "Forbidden"))
    return room


def check_words(payload: dict[str, Any], files: Sequence[object], *, edits: bool = False) -> None:
    content = payload.get("content")
    if content is not None and not isinstance(content, str):
        invalid("content", "BASE_TYPE_BAD_TYPE", "Only string values are allowed.")
    if len(content or "") > MOST_CONTENT:
        invalid("content", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_CONTENT} or fewer in length.")
    if not edits and not (content or "").strip() and not files and not payload.get("embeds"):
        raise Refusal(400, 50006, "Cannot send an empty message")
    check_mentions(payload.get("allowed_mentions"))
    check_components(payload.get("components") or [])


def check_message(payload: dict[str, Any], room: Room) -> None:
    nonce = payload.get("nonce")
    if isinstance(nonce, str) and len(nonce) > MOST_NONCE:
        invalid("nonce", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_NONCE} or fewer in length.")
    if payload.get("flags", 0) & EPHEMERAL:
        invalid("flags", "MESSAGE_FLAGS_INVALID", "Only answers to interactions are ephemeral.")
    reference = payload.get("message_reference")
    if reference is None:
        return
    target = room.messages.get(str(reference.get("message_id")))
    if target is None and reference.get("fail_if_not_exists", True):
        invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    if target is not None and target.type not in (0, 19, 20, 23):
        invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")


def check_mentions(allowed: dict[str, Any] | None) -> None:
    if allowed is None:
        return
    for name in ("users", "roles"):
        ids: list[Any] = allowed.get(name) or []
        if ids and name in allowed.get("parse", []):
            invalid(f"allowed_mentions.{name}", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "Mutually exclusive")
        if len(ids) > 100 or len(set(ids)) != len(ids) or not all(str(each).isdecimal() for each in ids):
            invalid(f"allowed_mentions.{name}", "BASE_TYPE_BAD_LENGTH", "Must be 100 or fewer different ids.")


def check_components(rows: Sequence[dict[str, Any]]) -> None:
    if len(rows) > 5:
        invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    seen: set[str] = set()
    for row in rows:
        items = row.get("components", [])
        if row.get("type") != 1 or not 0 < len(items) <= 5:
            invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
        for item in items:
            id = item.get("custom_id", "")
            if not 0 < len(id) <= MOST_ID:
                invalid("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MOST_ID} in length.")
            if id in seen:
                invalid("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
            seen.add(id)
            _check_item(item)


def _check_item(item: dict[str, Any]) -> None:
    match item.get("type"):
        case 2:
            if not 0 < len(item.get("label", "")) <= MOST_LABEL:
                invalid("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MOST_LABEL} in length.")
        case 3:
            values = [option.get("value", "") for option in item.get("options", [])]
            if not 0 < len(values) <= MOST_OPTIONS or len(set(values)) != len(values):
                invalid("components", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The options must be 25 different")
            if any(not 0 < len(option.get("label", "")) <= MOST_ID for option in item["options"]):
                invalid("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MOST_ID} in length.")
        case _:
            invalid("components", "UNION_TYPE_CHOICES", "Value of field type is unknown")


def check_emoji(world: World, written: str) -> str:
    """A unicode emoji, or one of the server's own as name:id."""
    name, _, id = written.partition(":")
    if id:
        if world.emojis.get(name) != id:
            raise Refusal(400, 10014, "Unknown Emoji")
        return f":{name}:"
    if not emoji.is_emoji(written):
        raise Refusal(400, 10014, "Unknown Emoji")
    return written
