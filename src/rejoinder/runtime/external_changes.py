"""Finds what was written to the shard from outside its engine: a part to send again, a turn to run again, a message
from the operator, a stranger who was let in (DE-33, DU-2), and in a shared store messages that other processes have
accepted."""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.session.home_requests import HomeRequests
from rejoinder.runtime.session.parts import SessionParts
from rejoinder.store.base import InboxEvent

AT_ONCE = 1000
"""How many undecided events are read at a time."""
PAUSE = 1.0
"""Seconds before a store that could not be read is tried again."""


class EventEntry(Struct, frozen=True):
    """How an event enters the engine."""

    take: Callable[[InboxEvent], None]
    """Takes it, behind what is already queued in its place."""
    decide: "Callable[[InboxEvent], asyncio.Task[None]]"
    """Decides it now; the task ends when that is done."""
    is_taken: Callable[[InboxEvent], bool]
    move: "Callable[[InboxEvent], Awaitable[bool]]"
    """Moves it to the owner of its session's home, if that is another process; returns whether it did."""


class ExternalChanges:
    """Only one look runs at a time, however often something changes, and none before recovery is over."""

    def __init__(
        self, parts: SessionParts, outbox: Outbox, access: Access, entry: EventEntry, recovered: asyncio.Event
    ) -> None:
        self._store = parts.services.store
        self._tasks = parts.services.tasks
        self._parts = parts
        self._outbox = outbox
        self._access = access
        self._entry = entry
        self._recovered = recovered
        self.home_requests = HomeRequests(parts)
        self._again = False
        self._arrived = False
        self._looking: asyncio.Task[None] | None = None
        self._later: asyncio.TimerHandle | None = None

    def changed(self) -> None:
        """Something may have been written from outside. Returns at once."""
        self.read_again()
        self._again = True
        self.look()

    def read_again(self) -> None:
        self._access.forget()

    def arrived(self) -> None:
        """A message has arrived. Others that were accepted earlier, by other processes, may come before it: takes all
        of them in order."""
        self._arrived = True
        self.look()

    def look(self) -> None:
        if (
            (self._again or self._arrived)
            and self._recovered.is_set()
            and (self._looking is None or self._looking.done())
        ):
            self._looking = self._tasks.start("look", self._look())

    async def _look(self) -> None:
        while self._again or self._arrived:
            everything, self._again, self._arrived = self._again, False, False
            try:
                if everything:
                    await self._parts.queue.readmission.look()
                    await self._parts.questions.look_elsewhere()
                    for route in await self._store.routes_to_send():
                        self._outbox.wake(route)
                events = await self._undecided()
            except StoreUnavailable as fault:  # the writer may not announce it a second time
                self._again, self._arrived = self._again or everything, True
                return self._look_later() if fault.fault != "closed" else None
            for event in events:
                if not self._entry.is_taken(event):
                    self._entry.take(event)
            if everything:
                self.home_requests.look()

    async def _undecided(self) -> list[InboxEvent]:
        """The oldest undecided events, taken or not. However many wait for a channel to be configured again, they hide
        no others (SC-25)."""
        found: list[InboxEvent] = []
        after, is_all = 0, False
        while not is_all and len(found) < AT_ONCE:
            page = await self._store.undecided_events(AT_ONCE, after)
            is_all = len(page) < AT_ONCE
            for event in page:
                after = event.id
                if self._entry.is_taken(event) or (
                    not await self._entry.move(event) and self._parts.conversations.has(event.inbound.channel)
                ):
                    found.append(event)
        return found

    def _look_later(self) -> None:
        """Uses no waiting task: it would keep the gateway from ending while the store is away."""

        def look() -> None:
            self._later = None
            self.look()

        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(PAUSE, look)
