"""The lanes of all sessions."""

import asyncio
from typing import Any

from rejoinder.runtime.lanes import Lanes


async def test_several_lanes_are_stopped_at_once():
    """IN-70: none of them has to end before the next is told to."""

    class Lane:
        told = 0

        async def stop(self) -> None:
            Lane.told += 1
            while Lane.told < 3:
                await asyncio.sleep(0)

    lanes: list[Any] = [Lane() for _ in range(3)]
    async with asyncio.timeout(5):
        await Lanes.stop(lanes)
