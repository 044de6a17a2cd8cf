"""How long a test waits for what ought to come, and how it waits for what nobody announces."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0
"""Seconds: a test that waits longer is stuck, not slow. No test depends on the speed of a machine, so all share one."""
LOOK_SECONDS = 0.01
"""Seconds between two looks."""


async def until(look: Callable[[], Any], what: str = "it", seconds: float = PATIENCE) -> Any:
    """What `look` returns, or what awaiting it gives, as soon as that is true. For a file, a row or another
    process, of which nobody tells us."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                seen = look()
                found = await seen if inspect.isawaitable(seen) else seen
                if found:
                    return found
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        raise AssertionError(f"{what} did not come about within {seconds:.0f} s") from None
