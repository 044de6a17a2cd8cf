"""Picks up what is written into the store from outside the engine: a part to send again, a turn to run again, a message
from the operator, a stranger who is let in (DE-33, DU-2). The store says only that something has changed; this module
finds out what."""

import asyncio

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.session.readmission import Readmission
from rejoinder.store.base import Store


class ForeignChanges:
    def __init__(self, store: Store, outbox: Outbox, access: Access, readmission: Readmission, runs: Runs) -> None:
        self._store = store
        self._outbox = outbox
        self._access = access
        self._readmission = readmission
        self._runs = runs
        self._again = False
        self._looking: asyncio.Task[None] | None = None

    def changed(self) -> None:
        """Returns at once. One look runs at a time, however often something changes."""
        self._access.forget()
        self._again = True
        if self._looking is None or self._looking.done():
            self._looking = self._runs.start("look beside", self._look())

    async def _look(self) -> None:
        while self._again:
            self._again = False
            try:
                await self._readmission.look()
                routes = await self._store.to_send()
            except StoreUnavailable:  # the store logs it; senders that go on afterwards ask what there is to send
                return
            for route in routes:
                self._outbox.wake(route)
