"""What became of a part, and how a caller waits to hear of it."""

import asyncio
from collections.abc import Iterable, Sequence
from operator import methodcaller
from typing import Final

from msgspec import Struct

from rejoinder.alarms import call_later
from rejoinder.store.base import StoredPart


class Sent(Struct, frozen=True):
    """`message`: the platform's id of it."""

    message: str


class Unsent(Struct, frozen=True):
    """`held`: it may have arrived, and is sent again only on request."""

    error: str
    held: bool = False


class StillSending(Struct, frozen=True):
    """It takes longer than the caller would wait; the caller will not hear what becomes of it."""


class HandedOver(Struct, frozen=True):
    """It is planned for a place of another home, whose owner sends it, and tells the session if it fails (SC-1)."""


DeliveryResult = Sent | Unsent | StillSending | HandedOver

_is_done = methodcaller("done")

WITHDRAWN: Final = Unsent("cancelled, and never sent")


async def hear(results: "Sequence[asyncio.Future[DeliveryResult]]", seconds: float) -> None:
    """Returns when it is known what became of each of these, or after so many seconds.

    Cancelling the caller in here calls off what has not been planned by then.
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
    """The platform's id of what was said; empty where it was not, or not yet."""
    known = result.result() if result.done() and not result.cancelled() else None
    return known.message if isinstance(known, Sent) else ""


def result_of(row: StoredPart) -> DeliveryResult | None:
    """The result of a part that was planned before, if it is known: the part is not sent twice."""
    match row.state:
        case "sent":
            return Sent(row.receipt or "")
        case "held" | "dead" | "withdrawn":
            return Unsent(row.error, held=row.state == "held")
        case _:
            return None
