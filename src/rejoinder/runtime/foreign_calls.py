"""Calls of code that may be another package's: a channel, an agent, a hook, a directive.

Whatever such a call raises is an error of that call. What is no Exception would be more if it were let through:
sys.exit() and KeyboardInterrupt end the process, and all else ends the task around the call, a CancelledError that
nobody asked for, as when something inside an SDK was cancelled, even without a word.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

CANCELLED_WITHIN: Final = "something it waited for was cancelled"
CLOSING: Final = 10.0
"""Seconds in which an agent or a channel has to close what it has open."""


class ForeignError(Exception):
    """What a call of foreign code has raised that is no Exception."""


async def guarded(call: Awaitable[T]) -> T:
    """What the call returns; whatever it raises is an Exception, unless this task itself is told to end."""
    try:
        return await call
    except (Exception, GeneratorExit):
        raise
    except asyncio.CancelledError as problem:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise ForeignError(CANCELLED_WITHIN) from problem
    except BaseException as problem:
        raise ForeignError(f"{type(problem).__name__}: {problem}") from problem


async def close_foreign(name: str, close: Callable[[], Awaitable[object]]) -> None:
    """Closes it. One that hangs or fails does not keep the others from being closed, nor the store behind them."""
    limit = asyncio.timeout(CLOSING)
    try:
        async with limit:
            await guarded(close())
    except Exception as problem:
        if limit.expired():
            log.warning("%s did not close within %g s, and is left as it is", name, CLOSING)
        else:
            log.error("%s failed to close: %s", name, problem, exc_info=problem)
