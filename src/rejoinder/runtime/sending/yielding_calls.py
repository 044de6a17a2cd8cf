"""Calls that matter less than words: the frames of a draft, and reactions (DE-32).

A conversation makes one call at a time. One of these that is not answered would hold up what is to be said, so it is
let go: soon when words wait, and in any case before the platform's own patience ends. What was let go may be carried
out yet, and whoever made it has to reckon with that.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from rejoinder.channels.base import Outcome, Unknown

PATIENCE: Final = 2.0
"""Seconds it has left when words wait."""
LONGEST: Final = 20.0
"""Seconds it may take when nobody waits."""


class LetGo(Unknown, frozen=True):
    """Nobody waited for its end: it may still come over what is done after it."""


class YieldingCalls:
    """Of one conversation."""

    def __init__(self) -> None:
        self._limit: asyncio.Timeout | None = None

    async def make(self, call: Coroutine[Any, Any, Outcome]) -> Outcome:
        self._limit = limit = asyncio.timeout(LONGEST)
        try:
            async with limit:
                return await call
        except TimeoutError:
            if not limit.expired():
                raise
            return LetGo("it was not answered in time")
        finally:
            self._limit = None

    def hurry(self) -> None:
        """Words wait."""
        if self._limit is None or self._limit.expired():
            return
        soon, until = asyncio.get_running_loop().time() + PATIENCE, self._limit.when()
        if until is None or soon < until:
            self._limit.reschedule(soon)
