"""A part of an answer as an operator sees it: the same in every command and in `--json`."""

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from rejoinder.events import Route

if TYPE_CHECKING:
    from rich.text import Text

    from rejoinder.store.base import StoredPart


class ShownPart(Struct, frozen=True):
    id: int
    state: str
    kind: str
    channel: str
    account: str
    chat: str
    thread: str | None
    text: str
    attempts: int
    planned: datetime
    retry_at: datetime | None
    receipt: str | None
    why: str
    turn: int | None
    key: str


def shown(part: "StoredPart") -> ShownPart:
    return ShownPart(
        id=part.id,
        state=part.state,
        kind=part.kind,
        channel=part.route.channel,
        account=part.route.account,
        chat=part.route.chat,
        thread=part.route.thread,
        text=text_of(part.body),
        attempts=part.attempts,
        planned=part.planned,
        retry_at=part.retry_at,
        receipt=part.receipt,
        why=part.error,
        turn=part.turn,
        key=part.key,
    )


class _Words(Struct):
    text: str


class _Body(Struct):
    """What the outbox keeps of the things it is to do, as far as people read it."""

    part: _Words | None = None
    emoji: str | None = None
    message: str | None = None


def text_of(body: bytes) -> str:
    """What people would see. A body that is not understood is shown as it was written."""
    try:
        found = msgspec.json.decode(body, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = _Body()
    match found:
        case _Body(part=_Words(text=text)):
            return text
        case _Body(emoji=str(emoji), message=str(message)):
            return f"{emoji} to {message}"
        case _Body(message=str(message)):
            return message
        case _:
            return body.decode("utf-8", "replace")


MESSAGES = ("say", "open")
"""Kinds of parts that are messages of their own; with any other the kind is told."""


def what(part: ShownPart, most: int = 400) -> "Text":
    from rich.text import Text

    from rejoinder.cli.layout import one_line, quoted

    text = quoted(part.text, most)
    if part.kind in MESSAGES:
        return text
    named = Text.assemble((one_line(part.kind) + " ", "dim"), text)
    named.no_wrap, named.overflow = True, "ellipsis"
    return named


def where(route: Route | ShownPart) -> str:
    account = "" if route.account == "default" else f"/{route.account}"
    return f"{route.channel}{account} {route.chat}" + (f" thread {route.thread}" if route.thread else "")
