"""Calls code that may belong to another package: a channel, an agent, a hook, a directive.

Whatever such a call raises must be no more than an error of that call. What is not an Exception would do more harm if
it passed: sys.exit() and KeyboardInterrupt would end the process, and anything else would end the task around the call.
A CancelledError that nobody requested, for example from inside an SDK, would even do so silently.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

CANCELLED_WITHIN: Final = "something it waited for was cancelled"
CLOSING: Final = 10.0
"""Seconds that an agent or a channel has to close its resources."""


class ForeignError(Exception):
    """Wraps what foreign code has raised if that is not an Exception."""


async def guarded(call: Awaitable[T]) -> T:
    """Returns the result of the call. Whatever it raises becomes an Exception, unless this task itself is cancelled."""
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
    """Closes an agent or a channel. If that hangs or fails, the others and the store are closed nevertheless."""
    limit = asyncio.timeout(CLOSING)
    try:
        async with limit:
            await guarded(close())
    except Exception as problem:
        if limit.expired():
            log.warning("%s did not close within %g s, and is left as it is", name, CLOSING)
        else:
            log.error("%s failed to close: %s", name, problem, exc_info=problem)
