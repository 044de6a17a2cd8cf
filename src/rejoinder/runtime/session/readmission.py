"""Runs quarantined turns and messages again on request: `/resend`, `rejoinder dead --retry`, the console (DU-2).

Rule 1: a request only marks the row. The gateway alone takes it out of quarantine, here, so that it is queued once.
Rule 2: the messages wait in their session like new ones; what the quarantined turn has already said stays.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from msgspec import Struct

from rejoinder.errors import Superseded, Unreadable
from rejoinder.events import Route
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.backlogs import Backlogs
from rejoinder.store.base import (
    Backlog,
    InboxEvent,
    Quarantined,
    ReadmitEvent,
    ReadmitTurn,
    RequestEventRerun,
    RequestTurnRerun,
)

log = logging.getLogger(__name__)


class TakenOut(Struct, frozen=True):
    """A turn that is out of quarantine, and whose messages are not queued yet."""

    session: str
    route: Route
    events: tuple[int, ...]


class Readmission:
    def __init__(
        self,
        services: Services,
        backlogs: Backlogs,
        readmit: Callable[[InboxEvent], Awaitable[None]],
        changed: Callable[[], None],
    ) -> None:
        """`changed` makes the engine look, and repeat this until the store can be read."""
        self._store = services.store
        self._backlogs = backlogs
        self._readmit_event = readmit
        self._changed = changed
        self._clock = services.clock
        self._taken_out: TakenOut | None = None

    async def want(self, route: Route | None) -> int:
        """Requests to run again everything quarantined in this place, or everywhere; returns how many rows that is."""
        count = 0
        for each in await self._store.quarantined():
            with suppress(Superseded, Unreadable):  # gone meanwhile, or unreadable, so it stays
                if each.number and (route is None or await self._place_of(each) == route):
                    await self._store.write(
                        RequestTurnRerun(each.number) if each.kind == "turn" else RequestEventRerun(each.number)
                    )
                    count += 1
        if count:
            self._changed()
        return count

    async def _place_of(self, each: Quarantined) -> Route | None:
        if each.kind == "turn":
            known = await self._store.turn(each.number)
            return None if known is None else known.turn.route
        events = [event for event in await self._store.events_of(each.id) if event.id == each.number]
        return events[0].inbound.route if events else None

    async def look(self) -> None:
        """Takes the requested rows out of quarantine."""
        await self._queue()
        for each in await self._store.requested_reruns():
            try:
                await self._readmit(each)
            except (Superseded, Unreadable) as problem:
                log.error("%s %s stays quarantined: %s", each.kind, each.id, problem)

    async def _readmit(self, each: Quarantined) -> None:
        log.info("%s %s is run again", each.kind, each.id)
        if each.kind != "turn":
            return await self._readmit_event(await self._store.write(ReadmitEvent(each.number)))
        known = await self._store.turn(each.number)
        if known is None:
            return
        events = await self._store.write(ReadmitTurn(each.number, self._clock()))
        self._taken_out = TakenOut(known.turn.session, known.turn.route, events)
        await self._queue()

    async def _queue(self) -> None:
        """Nobody else looks for these messages. If the store fails on the way, the next look goes on with them."""
        if (out := self._taken_out) is None:
            return
        try:
            waiting = await self._store.waiting_inputs(out.session)
            inputs = tuple([put for put in waiting if put.event.id in out.events])
            await self._backlogs.queue(Backlog(out.session, out.route, (), inputs))
        except (Superseded, Unreadable) as problem:
            log.error("%s: what was run again waits until the next start: %s", out.session, problem)
        self._taken_out = None
