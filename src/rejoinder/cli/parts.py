"""A part of an answer as an operator sees it: the same in every command and in `--json`."""

from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from rejoinder.events import Route
from rejoinder.store.bodies import text_of

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


MESSAGES = ("say", "open")
"""Kinds of parts that are ordinary messages; for any other, the kind is shown."""


def what(part: ShownPart, most: int = 400) -> "Text":
    from rich.text import Text

    from rejoinder.cli.layout import quoted
    from rejoinder.unicode_repair import one_line

    text = quoted(part.text, most)
    if part.kind in MESSAGES:
        return text
    named = Text.assemble((one_line(part.kind) + " ", "dim"), text)
    named.no_wrap, named.overflow = True, "ellipsis"
    return named


def where(route: Route | ShownPart) -> str:
    account = "" if route.account == "default" else f"/{route.account}"
    return f"{route.channel}{account} {route.chat}" + (f" thread {route.thread}" if route.thread else "")
