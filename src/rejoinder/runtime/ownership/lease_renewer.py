"""Renews the leases in a thread of its own, as long as the event loop is alive (SC-5).

A loop that is busy for a moment loses nothing; one that hangs loses its shards, as if the process had died. The thread
decides nothing: it passes the results to the loop.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Final

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime.ownership.held_lease import boot_time
from rejoinder.store.base import AnyLease, Renewal, SharedStore

log = logging.getLogger(__name__)

EVERY: Final = 0.3
"""The part of a lease after which it is renewed."""
STILL: Final = 0.5
"""If the loop shows no sign of life for this part of a lease, nothing is renewed."""

Renewed = Callable[[float, tuple[AnyLease, ...], Renewal], None]


class LeaseRenewer:
    """Both `leases` and `renewed` are called in the loop; `renewed` gets the time at which the renewal was sent."""

    def __init__(
        self,
        store: SharedStore,
        holder: str,
        leases: Callable[[], tuple[AnyLease, ...]],
        renewed: Renewed,
        *,
        claims: bool = True,
        seconds: float = 10.0,
    ) -> None:
        """`claims`: whether the process claims shards; `seconds`: for which a lease is granted."""
        self._store = store
        self._holder = holder
        self._leases = leases
        self._renewed = renewed
        self._claims = claims
        self._every = seconds * EVERY
        self._still = seconds * STILL
        self._moved = boot_time()
        self._asked: tuple[AnyLease, ...] = ()
        self._ends = threading.Event()

    async def run(self) -> None:
        """Shows that the loop is alive, until it is cancelled."""
        loop = asyncio.get_running_loop()
        self._asked = self._leases()
        thread = threading.Thread(target=self._renew, args=(loop,), name="rejoinder-leases", daemon=True)
        thread.start()
        try:
            while True:
                self._moved, self._asked = boot_time(), self._leases()
                await asyncio.sleep(self._every / 3)
        finally:
            self._ends.set()

    def _renew(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._ends.wait(self._every):
            sent, asked = boot_time(), self._asked
            if sent - self._moved > self._still:
                log.error("The gateway was blocked for %.0f s: its leases are not renewed", sent - self._moved)
                continue
            try:
                renewal = asyncio.run(self._store.renew(self._holder, asked, claims=self._claims))
                loop.call_soon_threadsafe(self._renewed, sent, asked, renewal)
            except (StoreUnavailable, OSError) as fault:  # a loop for the call needs file descriptors, too
                log.debug("skipped for now: %s", fault)  # the store has logged it already
            except RuntimeError:  # the loop has ended
                return
