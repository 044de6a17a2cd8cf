"""Runs coroutines side by side until all have ended."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def together(*works: Coroutine[Any, Any, None]) -> None:
    """Like `asyncio.gather`, but if one fails, the others are cancelled and waited for."""
    running: set[asyncio.Task[Any]] = set()

    async def noted(work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.current_task()
        assert task is not None, "gather makes one"
        running.add(task)
        try:
            await work
        finally:
            running.discard(task)

    try:
        await asyncio.gather(*map(noted, works))
    except Exception:
        for task in running:
            task.cancel()
        raise
    finally:  # if this was cancelled from outside, `gather` has cancelled them: twice would interrupt their cleaning up
        if running:
            await asyncio.wait(running.copy())
