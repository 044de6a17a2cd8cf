"""What became of a part, and how a caller waits to hear of it."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from rejoinder.alarms import call_at
from rejoinder.store.base import StoredPart


class Sent(Struct, frozen=True):
    """`message`: the platform's id of it."""

    message: str


class Unsent(Struct, frozen=True):
    """`held`: it may have arrived, and is sent again only on request."""

    error: str
    held: bool = False


class Underway(Struct, frozen=True):
    """It takes longer than the caller would wait; the caller will not hear what becomes of it."""


Fate = Sent | Unsent | Underway

WITHDRAWN: Final = Unsent("no longer to be said")


async def hear(fates: "Sequence[asyncio.Future[Fate]]", seconds: float) -> None:
    """Returns when it is known what became of each of these, or after so many seconds.

    Cancelling the caller in here calls off what has not been planned by then.
    """
    if all(fate.done() for fate in fates):
        return
    alarm = call_at(asyncio.get_running_loop().time() + seconds, lambda: settle_all(fates, Underway()))
    try:
        for fate in fates:
            await fate
    except asyncio.CancelledError:
        for fate in fates:
            fate.cancel()
        raise
    finally:
        alarm.cancel()


def settle_all(fates: "Iterable[asyncio.Future[Fate]]", fate: Fate) -> None:
    for waiting in fates:
        settle(waiting, fate)


def settle(waiting: "asyncio.Future[Fate]", fate: Fate) -> None:
    if not waiting.done():
        waiting.set_result(fate)


def message_of(fate: "asyncio.Future[Fate]") -> str:
    """The platform's id of what was said; empty where it was not, or not yet."""
    known = fate.result() if fate.done() and not fate.cancelled() else None
    return known.message if isinstance(known, Sent) else ""


def fate_of(row: StoredPart) -> Fate | None:
    """The fate of a part that was planned before, if it is known: the part is not sent twice."""
    match row.state:
        case "sent":
            return Sent(row.receipt or "")
        case "held" | "dead" | "withdrawn":
            return Unsent(row.error, held=row.state == "held")
        case _:
            return None
