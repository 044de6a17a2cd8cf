"""A part of an answer as an operator sees it: the same in every command and in `--json`."""

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from rejoinder.events import Part, Route

if TYPE_CHECKING:
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


def text_of(body: bytes) -> str:
    """What people would see. A body that is no message, such as a reaction, is shown as it was written."""
    try:
        return msgspec.json.decode(body, type=Part).text
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode("utf-8", "replace")


def where(route: Route | ShownPart) -> str:
    account = "" if route.account == "default" else f"/{route.account}"
    return f"{route.channel}{account} {route.chat}" + (f" thread {route.thread}" if route.thread else "")
