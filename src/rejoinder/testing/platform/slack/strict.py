"""Refuses what Slack refuses, in Slack's words."""

import re
from typing import Any, NoReturn

from rejoinder.rendering.emoji import emoji_called_by_slack
from rejoinder.testing.platform.slack.world import Room, World

MOST_TEXT, MOST_MARKDOWN = 40_000, 12_000
MOST_BLOCKS, MOST_SECTION, MOST_ELEMENTS, MOST_OPTIONS = 50, 3000, 25, 100
MOST_LABEL, MOST_VALUE, MOST_OPTION_VALUE = 75, 2000, 150
MOST_METADATA = 8000
MOST_IN_CELLS = 10_000
RICH = ("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote")
TS = re.compile(r"[0-9]{10}\.[0-9]{6}")
SCOPES: dict[str, str] = {
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "chat.delete": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.startStream": "chat:write",
    "chat.appendStream": "chat:write",
    "chat.stopStream": "chat:write",
    "reactions.add": "reactions:write",
    "reactions.remove": "reactions:write",
    "users.info": "users:read",
    "files.getUploadURLExternal": "files:write",
    "files.completeUploadExternal": "files:write",
    "files.info": "files:read",
    "assistant.threads.setStatus": "chat:write",
    "assistant.threads.setTitle": "assistant:write",
    "assistant.threads.setSuggestedPrompts": "assistant:write",
}


class Refusal(Exception):
    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more = more


def bad(error: str, **more: Any) -> NoReturn:
    raise Refusal(error, **more)


def known_room(world: World, payload: dict[str, Any], key: str = "channel") -> Room:
    id = payload.get(key)
    if not isinstance(id, str) or not id:
        bad("invalid_arguments")
    if id not in world.rooms:
        bad("channel_not_found")
    room = world.rooms[id]
    if room.error:
        bad(room.error)
    return room


def checked_text(payload: dict[str, Any], key: str = "text", most: int = MOST_TEXT) -> str:
    text = payload.get(key, "")
    if not isinstance(text, str):
        bad("invalid_arguments")
    if not text.strip() and not payload.get("blocks"):
        bad("no_text")
    if len(text) > most:
        bad("msg_too_long")
    return text


def checked_thread(room: Room, payload: dict[str, Any]) -> str | None:
    thread = payload.get("thread_ts")
    if thread is None:
        return None
    if not isinstance(thread, str) or not TS.fullmatch(thread):
        bad("invalid_thread_ts")
    if thread not in room.messages:
        bad("thread_not_found")
    above = room.messages[thread].thread
    return thread if above is None else above


def checked_metadata(payload: dict[str, Any]) -> dict[str, Any] | None:
    metadata = payload.get("metadata")
    if metadata is None:
        return None
    event, inside = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(event, str) or not isinstance(inside, dict) or not re.fullmatch(r"[\w.-]{1,255}", event):
        bad("invalid_metadata_format")
    if len(str(metadata)) > MOST_METADATA:
        bad("metadata_too_large")
    return metadata


def checked_blocks(payload: dict[str, Any]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = payload.get("blocks") or []
    if len(blocks) > MOST_BLOCKS:
        bad("invalid_blocks")
    for block in blocks:
        match block.get("type"):
            case "section":
                text = block.get("text", {})
                if (
                    text.get("type") not in ("mrkdwn", "plain_text")
                    or not 0 < len(text.get("text", "")) <= MOST_SECTION
                ):
                    bad("invalid_blocks")
            case "actions":
                _check_elements(block.get("elements", []))
            case "markdown":
                if not 0 < len(block.get("text", "")) <= MOST_MARKDOWN:
                    bad("invalid_blocks")
            case "table":
                _check_table(block)
            case "rich_text":
                _check_rich_text(block)
            case "divider" | "context" | "header":
                pass
            case _:
                bad("invalid_blocks")
    if sum(block["type"] == "table" for block in blocks) > 1:
        bad("only_one_table_allowed")
    return blocks


def _check_elements(elements: list[dict[str, Any]]) -> None:
    ids = [element.get("action_id") for element in elements]
    if not 0 < len(elements) <= MOST_ELEMENTS or len(set(ids)) != len(ids):
        bad("invalid_blocks")
    for element in elements:
        if element.get("type") == "button":
            _check_label(element.get("text"))
            if len(element.get("value", "")) > MOST_VALUE:
                bad("invalid_blocks")
        elif element.get("type") == "static_select":
            options = element.get("options", [])
            if not 0 < len(options) <= MOST_OPTIONS:
                bad("invalid_blocks")
            for option in options:
                _check_label(option.get("text"))
                if not 0 < len(option.get("value", "")) <= MOST_OPTION_VALUE:
                    bad("invalid_blocks")
        else:
            bad("invalid_blocks")


def _check_label(label: Any) -> None:
    said: dict[str, Any] = label or {}
    if said.get("type") != "plain_text" or not 0 < len(said.get("text", "")) <= MOST_LABEL:
        bad("invalid_blocks")


def _check_table(block: dict[str, Any]) -> None:
    rows = block.get("rows", [])
    if not 0 < len(rows) <= 100 or any(not 0 < len(row) <= 20 for row in rows):
        bad("invalid_blocks")
    cells = [cell for row in rows for cell in row]
    if any(cell.get("type") != "raw_text" or not cell.get("text") for cell in cells):
        bad("invalid_blocks")  # Slack takes rich text there, too; we have none
    if len({len(row) for row in rows}) != 1 or sum(len(cell["text"]) for cell in cells) > MOST_IN_CELLS:
        bad("invalid_blocks")
    settings = block.get("column_settings", [])
    if len(settings) > len(rows[0]) or any(each.get("align") not in ("left", "center", "right") for each in settings):
        bad("invalid_blocks")


def _check_rich_text(block: dict[str, Any]) -> None:
    elements = block.get("elements", [])
    if not elements or any(each.get("type") not in RICH for each in elements):
        bad("invalid_blocks")
    inside = [piece for each in elements for piece in each.get("elements", [])]
    if not inside or any(piece.get("type") == "text" and not piece.get("text") for piece in inside):
        bad("invalid_blocks")


def checked_emoji(name: Any, custom: set[str]) -> str:
    if not isinstance(name, str) or not name:
        bad("no_item_specified")
    plain, _, tone = name.partition("::")
    if plain not in custom and emoji_called_by_slack(plain) is None:
        bad("invalid_name")
    if tone and not re.fullmatch(r"skin-tone-[2-6]", tone):
        bad("invalid_name")
    return name
