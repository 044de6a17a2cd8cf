"""Closes offers (messages with buttons) that an earlier process left open and whose answers are no longer awaited.

The keys of all parts of an offer share a prefix, by which open offers are found. A part that may not have arrived
cannot be closed.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Final

from msgspec import DecodeError

from rejoinder.channels.base import CanEdit
from rejoinder.outbound import plan
from rejoinder.outbound.operations import Say, decode
from rejoinder.runtime.abilities import can
from rejoinder.runtime.outbox.delivery_results import DeliveryResult, message_of
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.outbox.part_keys import OFFERS, offer, origin_of
from rejoinder.runtime.outbox.sender import ConversationSender
from rejoinder.store.base import IN_FLIGHT, StoredPart, StoreReader

SAYS: Final = "say"
"""The kind of parts that say an offer, not those that change it."""

Close = Callable[[str, str], None]
"""Replaces the text of an offer and removes the buttons. The second argument is the message whose button was pressed:
it certainly arrived, even if its delivery was never confirmed."""


async def close_left_open(store: StoreReader, outbox: Outbox, outcome: str, known: Mapping[str, str | None]) -> None:
    """Removes the buttons of offers that an earlier process has made. `known`: the outcomes of some, by name; None if
    an answer is still awaited, because the turn that asked runs again. Offers of sessions in other shards are left to
    the owners of those."""
    outcomes = {offer(name): became for name, became in known.items()}
    rows = left_open(await store.parts_under(OFFERS))
    others = await store.asked_elsewhere(map(_name, rows)) if rows else ()
    for row in rows:
        if _name(row) in others or (became := outcomes.get(offer(_name(row)), outcome)) is None:
            continue
        channel = outbox.serving(row.route)
        if channel is not None and can(channel, CanEdit):
            _close(row, outbox.at(row.route), became)


def left_open(rows: Iterable[StoredPart]) -> list[StoredPart]:
    """The part with the buttons, for each offer that was never replaced by an outcome."""
    offers = (list(rows) for _, rows in groupby(sorted(rows, key=lambda row: (_name(row), row.id)), _name))
    closable = ("sent", *IN_FLIGHT)
    return [rows[-1] for rows in offers if rows[-1].kind == SAYS and rows[-1].state in closable]


def _name(row: StoredPart) -> str:
    origin = origin_of(row)
    return origin.about if origin is not None else ""


def _close(row: StoredPart, sender: ConversationSender, outcome: str) -> None:
    try:
        said = decode(row.body)
    except DecodeError:  # written by another version: its buttons stay
        return
    if not isinstance(said, Say):
        return

    def close(result: "asyncio.Future[DeliveryResult]") -> None:
        if message := message_of(result):
            sender.post(plan.close_offer(said, message, outcome, offer(_name(row)).stem))

    sender.follow(row).add_done_callback(close)
