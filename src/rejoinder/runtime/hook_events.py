"""Makes the events that HTTP hooks receive (IN-8). Pure.

Rule 1: the same happening always has the same id, so telling it again after a crash is no second event.
Rule 2: a body is made once, when it happens; every attempt posts the same bytes.
"""

from collections.abc import Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any

import msgspec

from rejoinder.events import Inbound, MessageReceived, ReplySent, Route, SessionEnded, SessionStarted, TurnEnded
from rejoinder.store.base import HookEvent

Tellable = MessageReceived | SessionStarted | SessionEnded | TurnEnded | ReplySent
NAMES: Mapping[type[Tellable], str] = {
    MessageReceived: "message_received",
    SessionStarted: "session_started",
    SessionEnded: "session_ended",
    TurnEnded: "turn_ended",
    ReplySent: "reply_sent",
}


def hook_events(happening: Tellable, hooks: Mapping[str, frozenset[str]], now: datetime) -> tuple[HookEvent, ...]:
    """A row for each hook that wants this happening. `hooks`: the names of the events that each hook wants."""
    name = NAMES[type(happening)]
    wanting = [hook for hook, names in hooks.items() if name in names]
    if not wanting:
        return ()
    id = event_id(happening)
    said = {"id": id, "event": name, "at": now, "data": data_of(happening)}
    body = msgspec.json.encode(said)
    return tuple([HookEvent(hook, id, name, now, body) for hook in wanting])


def event_id(happening: Tellable) -> str:
    match happening:
        case MessageReceived(message=message):
            said = (message.channel, message.account, message.event_id)
        case SessionStarted() | SessionEnded():
            said = (happening.session, str(happening.at))
        case TurnEnded():
            said = (happening.session, str(happening.turn))
        case ReplySent(route=route):
            said = (*_place(route), happening.message, happening.text)
    words = msgspec.json.encode((NAMES[type(happening)], *map(_whole, said)))
    return f"evt_{blake2b(words, digest_size=16).hexdigest()}"


def data_of(happening: Tellable) -> dict[str, Any]:
    match happening:
        case MessageReceived(message=message):
            return _message(message)
        case SessionStarted():
            return {"session": happening.session, "agent": happening.agent, **_route(happening.route)}
        case SessionEnded():
            who = {"session": happening.session, "agent": happening.agent, "why": happening.why}
            return {**who, **_route(happening.route)}
        case TurnEnded():
            return {
                "session": happening.session,
                "agent": happening.agent,
                **_route(happening.route),
                "turn": happening.turn,
                "message": happening.message,
                "also": happening.also,
                "outcome": happening.outcome,
                "why": happening.why,
            }
        case ReplySent():
            said = {"message": happening.message, "text": _whole(happening.text), "turn": happening.turn}
            return {**_route(happening.route), **said}


def _message(message: Inbound) -> dict[str, Any]:
    sender, chat = message.sender, message.chat
    return {
        **_route(message.route),
        "chat_kind": chat.kind,
        "chat_title": _whole(chat.title),
        "message": message.message_id,
        "entry": message.entry,
        "sender": {"id": sender.id, "name": _whole(sender.shown_name), "is_bot": sender.is_bot},
        "text": _whole(message.text),
        "reply_to": None if message.reply_to is None else message.reply_to.message_id,
        "attachments": [
            {"name": _whole(file.name), "mime": file.mime, "size": file.size} for file in message.attachments
        ],
    }


def _route(route: Route) -> dict[str, Any]:
    return {"channel": route.channel, "account": route.account, "chat": route.chat, "thread": route.thread}


def _place(route: Route) -> tuple[str, ...]:
    return route.channel, route.account, route.chat, route.thread or ""


def _whole(text: str) -> str:
    """Repairs half characters, which platforms let through: JSON cannot contain them."""
    return text.encode("utf-8", "replace").decode()
