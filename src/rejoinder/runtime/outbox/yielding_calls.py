"""Calls that matter less than messages: the frames of a draft, and reactions (DE-32).

A conversation makes one call at a time. An unanswered call of this kind would hold up messages, so it is abandoned:
soon if a message waits, and in any case before the platform's own timeout. The platform may still carry out an
abandoned call, and callers have to allow for that.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from rejoinder.channels.base import Outcome, Unknown

PATIENCE: Final = 2.0
"""Seconds the call has left once a message waits."""
LONGEST: Final = 20.0
"""Seconds the call may take when no message waits."""


class CallAbandoned(Unknown, frozen=True):
    """The call was abandoned before its end: it may still take effect after later calls."""


class YieldingCalls:
    """The yielding calls of one conversation."""

    def __init__(self) -> None:
        self._limit: asyncio.Timeout | None = None

    async def run(self, call: Coroutine[Any, Any, Outcome]) -> Outcome:
        self._limit = limit = asyncio.timeout(LONGEST)
        try:
            async with limit:
                return await call
        except TimeoutError:
            if not limit.expired():
                raise
            return CallAbandoned("it was not answered in time")
        finally:
            self._limit = None

    def hurry(self) -> None:
        """A message waits: shortens the time the call has left."""
        if self._limit is None or self._limit.expired():
            return
        soon, until = asyncio.get_running_loop().time() + PATIENCE, self._limit.when()
        if until is None or soon < until:
            self._limit.reschedule(soon)
