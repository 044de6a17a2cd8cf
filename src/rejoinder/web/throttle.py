"""Slows down people who guess tokens, by address. The right token is never refused, even after many wrong ones."""

import asyncio
import logging
import time
from collections import deque

from rejoinder.bounded import Bounded

log = logging.getLogger(__name__)

MOST_FAILURES, WITHIN = 10, 60.0
PENALTY = 1.0
"""Seconds that a wrong guess waits for its answer after too many others."""
MOST_ADDRESSES = 10_000


class Throttle:
    def __init__(self) -> None:
        self._failures: Bounded[str, deque[float]] = Bounded(MOST_ADDRESSES)
        self._logged_at = float("-inf")

    async def failed(self, address: str) -> bool:
        """Called when a wrong token came from this address. Returns, after a while, whether there were too many."""
        now = time.monotonic()
        failures = self._failures.get(address) or deque(maxlen=MOST_FAILURES)
        too_many = len(failures) == MOST_FAILURES and now - failures[0] < WITHIN
        failures.append(now)
        self._failures.renew(address, failures)
        if too_many:
            if now - self._logged_at > WITHIN:
                log.warning("Many wrong tokens came from %s; answers to them are delayed.", address)
                self._logged_at = now
            await asyncio.sleep(PENALTY)
        return too_many
