"""Periodic work: deletes old rows (DU-14)."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Retention, Store, Sweep

log = logging.getLogger(__name__)

SOON_AFTER = 30.0
SWEPT_EVERY = timedelta(hours=1)
KEPT = timedelta(days=30)
"""How long ended events are remembered: one that is delivered again within this time is recognised (DU-1)."""


class Upkeep:
    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    async def run(self) -> None:
        swept: datetime | None = None  # sweeps soon after the start: some gateways run for less than an hour
        while True:
            await asyncio.sleep(SOON_AFTER)
            try:
                if swept is None or self._clock() - swept >= SWEPT_EVERY:
                    await self.sweep()
                    swept = self._clock()
            except StoreUnavailable as fault:
                log.debug("skipped for now: %s", fault)  # the store has logged it already

    async def sweep(self) -> None:
        """Deletes in small steps, so that other writes do not wait long."""
        now = self._clock()
        keep = Retention(ended_before=now - KEPT)
        while await self._store.write(Sweep(keep, now)):
            continue
