"""The results of parts, and how callers wait for them."""

import asyncio
from collections.abc import Iterable, Sequence
from operator import methodcaller
from typing import Final

from msgspec import Struct

from rejoinder.alarms import call_later
from rejoinder.store.base import StoredPart


class Sent(Struct, frozen=True):
    """`message`: the platform's id of the message."""

    message: str


class Unsent(Struct, frozen=True):
    """`held`: the part may have arrived, and is sent again only on request."""

    error: str
    held: bool = False


class StillSending(Struct, frozen=True):
    """Sending takes longer than the caller is willing to wait; the caller will not learn the result."""


class HandedOver(Struct, frozen=True):
    """The part is planned for a place of another home. The owner of that home sends it, and tells the session if it
    fails (SC-1)."""


DeliveryResult = Sent | Unsent | StillSending | HandedOver

_is_done = methodcaller("done")

WITHDRAWN: Final = Unsent("cancelled, and never sent")


async def hear(results: "Sequence[asyncio.Future[DeliveryResult]]", seconds: float) -> None:
    """Returns when all these results are known, or after this many seconds.

    If the caller is cancelled here, parts not planned by then are called off.
    """
    if all(map(_is_done, results)):
        return
    alarm = call_later(seconds, lambda: settle_all(results, StillSending()))
    try:
        for result in results:
            await result
    except asyncio.CancelledError:
        for result in results:
            result.cancel()
        raise
    finally:
        alarm.cancel()


def settle_all(results: "Iterable[asyncio.Future[DeliveryResult]]", result: DeliveryResult) -> None:
    for waiting in results:
        settle(waiting, result)


def settle(waiting: "asyncio.Future[DeliveryResult]", result: DeliveryResult) -> None:
    if not waiting.done():
        waiting.set_result(result)


def message_of(result: "asyncio.Future[DeliveryResult]") -> str:
    """The platform's id of the message; empty if it was not sent, or not yet."""
    known = result.result() if result.done() and not result.cancelled() else None
    return known.message if isinstance(known, Sent) else ""


def result_of(row: StoredPart) -> DeliveryResult | None:
    """The result of a part that was planned earlier, if it is known: such a part is not sent twice."""
    match row.state:
        case "sent":
            return Sent(row.receipt or "")
        case "held" | "dead" | "withdrawn":
            return Unsent(row.error, held=row.state == "held")
        case _:
            return None
