"""Turns parts into Slack's requests: pure, the same part always gives the same request (DU-4).

Rule 1: a part carries its key as metadata, so that it can be found again (CH-35).
Rule 2: a text notifies only the people who are addressed: the renderer has escaped everything else (CH-34).
Rule 3: links are unfurled only if the agent asked for it; a reply is never broadcast to the channel (CH-31).
"""

from typing import Any, Literal

from rejoinder.channels.slack.blocks import addressed, blocks_of
from rejoinder.events import Part, Route

KEY_EVENT = "rejoinder_part"
KEY = "key"
OPENING = "/open"
"""The key of a draft's opening contains this."""

Payload = dict[str, Any]
Form = Literal["rich", "buttons", "text"]
"""Which blocks to send: tables, code and buttons, only buttons, or none."""
SIMPLER: tuple[Form, ...] = ("buttons", "text")


def message(part: Part, thread: str | None, form: Form = "rich") -> Payload:
    """For chat.postMessage."""
    payload: Payload = {**place(part.route.chat, thread), **words(part, form)}
    payload |= {"unfurl_links": part.previews, "unfurl_media": part.previews}
    if part.key:
        payload["metadata"] = {"event_type": KEY_EVENT, "event_payload": {KEY: part.key}}
    return payload


def place(channel: str, thread: str | None) -> Payload:
    return {"channel": channel} if thread is None else {"channel": channel, "thread_ts": thread}


def ephemeral(part: Part, thread: str | None) -> Payload:
    """For chat.postEphemeral."""
    return {**place(part.route.chat, thread), "user": part.only_for, **words(part)}


def response(part: Part, *, private: bool) -> Payload:
    """For the response address of an interaction."""
    return {"response_type": "ephemeral" if private else "in_channel", "replace_original": False, **words(part)}


def update(route: Route, message: str, part: Part, form: Form = "rich") -> Payload:
    """For chat.update; a text without blocks removes those that were there."""
    return {"channel": route.chat, "ts": message, "blocks": [], **words(part, form)}


def words(part: Part, form: Form = "buttons") -> Payload:
    text = addressed(part, part.text)
    is_whole = bool(part.key) and OPENING not in part.key  # in a draft, previews would make the text jump
    blocks = [] if form == "text" else blocks_of(part, text, whole=form == "rich" and is_whole)
    return {"text": text, "blocks": blocks} if blocks else {"text": text}


def key_of(metadata: Any) -> str:
    """Our key from the metadata of a message; empty if it has none."""
    if metadata is None or metadata.event_type != KEY_EVENT:
        return ""
    return str(metadata.event_payload.get(KEY, ""))
