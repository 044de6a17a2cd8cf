"""Refuses what Discord refuses, with Discord's numbers and words."""

import re
from collections.abc import Sequence
from typing import Any, NoReturn

import emoji

from rejoinder.testing.platform.discord.world import MODERATED, Room, World

MOST_FILES = 10
MOST_CONTENT, MOST_NONCE, MOST_LABEL, MOST_ID, MOST_OPTIONS = 2000, 25, 80, 100, 25
EPHEMERAL = 1 << 6
VOICE_MESSAGE = 1 << 13
WORDS = frozenset({"allowed_mentions", "attachments", "components", "content", "embeds", "flags"})
CREATE = WORDS | {"enforce_nonce", "message_reference", "nonce", "poll", "shared_client_theme", "sticker_ids", "tts"}
EDIT = WORDS | {"sticker_ids"}
FOLLOW_UP = WORDS | {"applied_tags", "avatar_url", "poll", "thread_name", "tts", "username"}
THREAD = frozenset({"auto_archive_duration", "name", "rate_limit_per_user"})
POST = THREAD | {"applied_tags", "message"}
POSTED = WORDS | {"sticker_ids"}
CHANGE = frozenset({"archived", "auto_archive_duration", "locked", "name", "rate_limit_per_user"})
MENTIONS = frozenset({"parse", "replied_user", "roles", "users"})
REFERENCE = frozenset({"channel_id", "fail_if_not_exists", "guild_id", "message_id", "type"})
ATTACHMENT = frozenset(
    {"description", "duration_secs", "filename", "id", "is_remix", "is_spoiler", "title", "waveform"}
)
BUTTON = frozenset({"custom_id", "disabled", "emoji", "id", "label", "sku_id", "style", "type", "url"})
SELECT = frozenset({"custom_id", "disabled", "id", "max_values", "min_values", "options", "placeholder"}) | {
    "required",
    "type",
}
_TRANSLATED = frozenset({"name_localizations", "description_localizations"})
_COMMANDS = {"contexts", "default_member_permissions", "description", "dm_permission", "handler", "id"}
COMMAND = _TRANSLATED | _COMMANDS | {"integration_types", "name", "options", "type"}
OPTION = _TRANSLATED | {
    "autocomplete",
    "choices",
    "description",
    "max_length",
    "min_length",
    "name",
    "required",
    "type",
}
"""The fields in Discord's own description of its API. Discord ignores others, which is worse than a refusal."""
_COMMAND = re.compile(r"[-_a-z0-9]{1,32}")


class Refusal(Exception):
    def __init__(self, status: int, code: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.body = {"message": message, "code": code, **more}


def unknown_message() -> NoReturn:
    raise Refusal(404, 10008, "Unknown Message")


def invalid(field: str, code: str, message: str) -> NoReturn:
    """Error 50035, with the fault at its place in the form."""
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


def check_open(room: Room, *, says: bool = False) -> None:
    """An archived thread accepts no change; `says`: a message reopens it, unless a moderator has locked it."""
    if room.archived and (room.locked or not says):
        raise Refusal(400, 50083, "Thread is archived")
    if room.locked and says:
        raise Refusal(403, 160005, "Thread is locked")


def check_words(payload: dict[str, Any], files: Sequence[object], *, edits: bool = False) -> None:
    content = payload.get("content")
    if content is not None and not isinstance(content, str):
        invalid("content", "BASE_TYPE_BAD_TYPE", "Only string values are allowed.")
    if len((content or "").encode("utf-16-le", "surrogatepass")) // 2 > MOST_CONTENT:
        invalid("content", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_CONTENT} or fewer in length.")
    if not edits and not (content or "").strip() and not files and not payload.get("embeds"):
        raise Refusal(400, 50006, "Cannot send an empty message")
    check_mentions(payload.get("allowed_mentions"))
    check_components(payload.get("components") or [])


def check_fields(payload: dict[str, Any], known: frozenset[str], where: str = "") -> None:
    """Stricter than Discord: an unknown field is a mistake of ours."""
    for name in payload.keys() - known:
        invalid(f"{where}.{name}".lstrip("."), "UNKNOWN_FIELD", "Discord has no such field")


def check_commands(commands: Sequence[dict[str, Any]]) -> None:
    if len(commands) > 100:
        invalid("commands", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
    if len({each.get("name") for each in commands}) != len(commands):
        invalid("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
    for command in commands:
        check_fields(command, COMMAND)
        options = command.get("options", [])
        for each in (command, *options):
            if not _COMMAND.fullmatch(each.get("name", "")):
                invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
            if not 0 < len(each.get("description", "")) <= 100:
                invalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
        required = [bool(option.get("required")) for option in options]
        if required != sorted(required, reverse=True) or len(options) > 25:
            invalid("options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options come first")
        for option in options:
            check_fields(option, OPTION)
            choices = option.get("choices", [])
            if len(choices) > 25 or (choices and option.get("autocomplete")):
                invalid("choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
            if any(not 0 < len(str(choice.get(name, ""))) <= 100 for choice in choices for name in ("name", "value")):
                invalid("choices", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")


def check_files(payload: dict[str, Any], sizes: Sequence[int], most: int) -> None:
    """Each file has its place in the form, and none is too large."""
    if len(sizes) > MOST_FILES:
        invalid("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_FILES} or fewer in length.")
    if any(size > most for size in sizes):
        raise Refusal(413, 40005, "Request entity too large")
    attached: list[dict[str, Any]] = payload.get("attachments") or []
    for each in attached:
        check_fields(each, ATTACHMENT, "attachments")
    if {each.get("id") for each in attached} - {str(number) for number in range(len(sizes))}:
        invalid("attachments", "ATTACHMENT_NOT_FOUND", "Attachment data not found")
    if int(payload.get("flags") or 0) & VOICE_MESSAGE:
        check_voice(payload, attached)


def check_voice(payload: dict[str, Any], attached: Sequence[dict[str, Any]]) -> None:
    if any(payload.get(each) for each in ("content", "embeds", "components")):
        raise Refusal(400, 50159, "Voice messages do not support additional content.")
    if len(attached) != 1:
        raise Refusal(400, 50160, "Voice messages must have a single audio attachment.")
    if not attached[0].get("duration_secs") or not attached[0].get("waveform"):
        raise Refusal(400, 50161, "Voice messages must have supporting metadata.")


def check_message(payload: dict[str, Any], room: Room) -> None:
    nonce = payload.get("nonce")
    if isinstance(nonce, str) and len(nonce) > MOST_NONCE:
        invalid("nonce", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_NONCE} or fewer in length.")
    if payload.get("flags", 0) & EPHEMERAL:
        invalid("flags", "MESSAGE_FLAGS_INVALID", "Only answers to interactions are ephemeral.")
    reference = payload.get("message_reference")
    if reference is None:
        return
    check_fields(reference, REFERENCE, "message_reference")
    target = room.messages.get(str(reference.get("message_id")))
    if target is None and reference.get("fail_if_not_exists", True):
        invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    if target is not None and target.type not in (0, 19, 20, 23):
        invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")


def check_tags(room: Room, applied: Sequence[str]) -> None:
    if len(applied) > 5 or not set(applied) <= room.tags.keys():
        invalid("applied_tags", "BASE_TYPE_CHOICES", "Unknown tag")
    if any(room.tags[tag].endswith(MODERATED) for tag in applied):
        raise Refusal(403, 50013, "Missing Permissions")
    if room.needs_tag and not applied:
        raise Refusal(400, 40067, "A tag is required to create a forum post in this channel")


def check_mentions(allowed: dict[str, Any] | None) -> None:
    if allowed is None:
        return
    check_fields(allowed, MENTIONS, "allowed_mentions")
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
            check_fields(item, BUTTON, "components")
            if item.get("style") not in (1, 2, 3, 4):
                invalid("components", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
            if not 0 < len(item.get("label", "")) <= MOST_LABEL:
                invalid("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MOST_LABEL} in length.")
        case 3:
            check_fields(item, SELECT, "components")
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
