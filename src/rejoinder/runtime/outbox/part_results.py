"""Who waits to hear what becomes of the parts of one conversation: those who planned one, and those who follow one that
was planned earlier.

Rule 1: of a part that is followed, the store is asked first: it may have been settled since its row was read.
Rule 2: nobody waits for ever. When nothing is left to send, what is still waited for has been withdrawn (IN-70), unless
        the store is being asked about it; when nothing can be stored any more, all are released.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from itertools import chain
from typing import Final

from rejoinder.errors import StoreUnavailable
from rejoinder.events import Route
from rejoinder.runtime.outbox.delivery_results import WITHDRAWN, DeliveryResult, result_of, settle_all
from rejoinder.runtime.services import Services
from rejoinder.runtime.write_batch import until_available
from rejoinder.store.base import StoredPart

FIRST_LOOK: Final = 0.25
LONGEST_PAUSE: Final = 10.0
"""Seconds before it is looked whether another owner has sent a part, and at most between two looks."""


class PartResults:
    def __init__(self, route: Route, services: Services) -> None:
        self._route = route
        self._store = services.store
        self._gate = services.gate
        self._clock: Callable[[], datetime] = services.clock
        self.ours: set[str] = set()
        """Keys of parts that were planned here and are not settled."""
        self._waiting: dict[str, list[asyncio.Future[DeliveryResult]]] = {}
        self._finding: set[str] = set()  # keys of parts of which the store is being asked

    def planned(self, row: StoredPart, result: "asyncio.Future[DeliveryResult]") -> None:
        self.ours.add(row.key)
        self._waiting.setdefault(row.key, []).append(result)

    def follow(self, row: StoredPart, result: "asyncio.Future[DeliveryResult]") -> None:
        """Of a part that was planned earlier; `find` is to be called next."""
        self._finding.add(row.key)
        self._waiting.setdefault(row.key, []).append(result)

    def settle(self, key: str, result: DeliveryResult) -> None:
        self.ours.discard(key)
        settle_all(self._waiting.pop(key, ()), result)

    def withdraw(self, result: DeliveryResult) -> None:
        """Nothing is left to send: this is the result of all that is waited for."""
        for key in self._waiting.keys() - self._finding:  # what is being asked about may have been sent
            self.settle(key, result)

    def give_up(self) -> None:
        """Nothing can be stored any more."""
        for result in chain.from_iterable(self._waiting.values()):
            result.cancel()
        self._waiting.clear()

    async def find(self, row: StoredPart) -> bool:
        """Whether the result of a part that is followed is known now; whoever waits for it has been told."""
        try:
            now = await self._as_stored(row)
            if now is not None and result_of(now) is None and await self._is_elsewhere():
                now = await self._as_sent_elsewhere(now)
        finally:
            self._finding.discard(row.key)
        known = WITHDRAWN if now is None else result_of(now)
        if known is not None:
            self.settle(row.key, known)
        return known is not None

    async def _as_stored(self, row: StoredPart) -> StoredPart | None:
        """Waits while the store is unavailable; raises when it has been closed."""
        while True:
            try:
                return await self._store.part(row.id)
            except StoreUnavailable as fault:
                await until_available(self._store, fault)

    async def _is_elsewhere(self) -> bool:
        return (await self._store.place(self._route, self._clock())).elsewhere

    async def _as_sent_elsewhere(self, row: StoredPart) -> StoredPart | None:
        """Its home has another owner, who does not tell us when it is sent (SC-1). If the engine ends before that, it
        is still unknown."""
        pause = FIRST_LOOK
        now: StoredPart | None = row
        while now is not None and result_of(now) is None and not await self._gate.shuts_within(pause):
            now, pause = await self._as_stored(row), min(2 * pause, LONGEST_PAUSE)
        return now
