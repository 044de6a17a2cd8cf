"""How long tests wait for an event, and how they wait for changes that nothing announces."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0
"""Seconds: a test that waits longer is stuck, not slow. No test depends on a machine's speed, so all share one
value."""
LOOK_SECONDS = 0.01
"""Seconds between two looks."""


async def until(look: Callable[[], Any], what: str = "it", seconds: float = PATIENCE) -> Any:
    """Calls `look` again and again, and returns its result (awaited if necessary) as soon as that is true. For files,
    rows and other processes, whose changes nothing announces."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                seen = look()
                found = await seen if inspect.isawaitable(seen) else seen
                if found:
                    return found
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        raise AssertionError(f"{what} did not happen within {seconds:.0f} s") from None
