"""The callers that wait for the results of parts of one conversation: those that planned a part, and those that follow
a part planned earlier.

Rule 1: for a followed part, the store is asked first, because it may have been settled since its row was read.
Rule 2: nobody waits for ever. When nothing is left to send, parts still waited for have been withdrawn (IN-70), unless
        the store is just being asked about them. When nothing can be stored any more, all callers are released.
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
"""Seconds before the first look whether another owner has sent a part, and the longest pause between two looks."""


class PartResults:
    def __init__(self, route: Route, services: Services) -> None:
        self._route = route
        self._store = services.store
        self._gate = services.gate
        self._clock: Callable[[], datetime] = services.clock
        self.ours: set[str] = set()
        """Keys of parts that were planned here and are not settled."""
        self._waiting: dict[str, list[asyncio.Future[DeliveryResult]]] = {}
        self._finding: set[str] = set()  # keys of parts about which the store is being asked

    def planned(self, row: StoredPart, result: "asyncio.Future[DeliveryResult]") -> None:
        self.ours.add(row.key)
        self._waiting.setdefault(row.key, []).append(result)

    def follow(self, row: StoredPart, result: "asyncio.Future[DeliveryResult]") -> None:
        """Follows a part that was planned earlier; call `find` next."""
        self._finding.add(row.key)
        self._waiting.setdefault(row.key, []).append(result)

    def settle(self, key: str, result: DeliveryResult) -> None:
        self.ours.discard(key)
        settle_all(self._waiting.pop(key, ()), result)

    def withdraw(self, result: DeliveryResult) -> None:
        """Nothing is left to send: settles everything that is waited for with this result."""
        for key in self._waiting.keys() - self._finding:  # the parts in `_finding` may have been sent
            self.settle(key, result)

    def give_up(self) -> None:
        """Nothing can be stored any more: releases all callers."""
        for result in chain.from_iterable(self._waiting.values()):
            result.cancel()
        self._waiting.clear()

    async def find(self, row: StoredPart) -> bool:
        """Looks up the result of a followed part. Returns whether it is known; if so, its waiting callers have been
        told."""
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
        """Waits until the other owner of the part's home has sent it; that owner does not tell us (SC-1). If the engine
        ends before that, the result stays unknown."""
        pause = FIRST_LOOK
        now: StoredPart | None = row
        while now is not None and result_of(now) is None and not await self._gate.shuts_within(pause):
            now, pause = await self._as_stored(row), min(2 * pause, LONGEST_PAUSE)
        return now
