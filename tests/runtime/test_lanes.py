"""The lanes of all sessions."""

import asyncio
from typing import Any

from rejoinder.runtime.lanes import Lanes


async def test_several_lanes_are_stopped_at_once():
    """IN-70: none of them has to end before the next is told to."""

    all_are_told = asyncio.Barrier(3)

    class Lane:
        async def stop(self) -> None:
            await all_are_told.wait()

    lanes: list[Any] = [Lane() for _ in range(3)]
    async with asyncio.timeout(5):
        await Lanes.stop(lanes)
