"""Slows down who guesses tokens, by address. The right token is never refused, however many wrong ones came."""

import asyncio
import time
from collections import deque

from rejoinder.bounded import Bounded

MOST_FAILURES, WITHIN = 10, 60.0
PENALTY = 1.0
"""Seconds that a wrong guess waits for its answer after too many others."""
MOST_ADDRESSES = 10_000


class Throttle:
    def __init__(self) -> None:
        self._failures: Bounded[str, deque[float]] = Bounded(MOST_ADDRESSES)

    async def failed(self, address: str) -> bool:
        """A wrong token came from there. Returns, after a while, whether there were too many."""
        now = time.monotonic()
        failures = self._failures.get(address) or deque(maxlen=MOST_FAILURES)
        too_many = len(failures) == MOST_FAILURES and now - failures[0] < WITHIN
        failures.append(now)
        self._failures.renew(address, failures)
        if too_many:
            await asyncio.sleep(PENALTY)
        return too_many
