"""The lanes of all sessions."""

import asyncio
from types import SimpleNamespace
from typing import Any

from rejoinder.runtime.session.lanes import Lanes
from rejoinder.testing.patience import PATIENCE


async def test_several_lanes_are_stopped_at_once():
    """IN-70: none of them has to end before the next is told to."""
    told: list[asyncio.Event] = []

    class Lane:
        def stop(self, before: int | None) -> Any:
            told.append(asyncio.Event())
            if len(told) == 3:
                for gone in told:
                    gone.set()
            return SimpleNamespace(ended=told[-1])

    lanes: list[Any] = [Lane() for _ in range(3)]
    async with asyncio.timeout(PATIENCE):
        await Lanes.stop(lanes)
