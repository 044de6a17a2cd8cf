"""For channels that cannot continue until the store has answered."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rejoinder.errors import StoreUnavailable

log = logging.getLogger(__name__)

T = TypeVar("T")


async def when_available(ask: Callable[[], Awaitable[T]], pause: float) -> T:
    """Waits for the store's answer, however long that takes (DU-15). `pause`: seconds between two attempts."""
    while True:
        try:
            return await ask()
        except StoreUnavailable as problem:
            log.debug("%s", problem)  # the store logs it once itself
            await asyncio.sleep(pause)
