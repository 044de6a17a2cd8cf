"""Calls of code that may be another package's: a channel, a hook, a directive.

Whatever such a call raises is an error of that call. Two things would be more if they were let through: sys.exit() and
KeyboardInterrupt end the process, and a CancelledError that nobody asked for, as when something inside an SDK was
cancelled, ends the task around the call without a word.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")

CANCELLED_WITHIN = "something it waited for was cancelled"


class ForeignError(Exception):
    """What a call of foreign code has raised that is no Exception."""


async def called(call: Awaitable[T]) -> T:
    """What the call returns; whatever it raises is an Exception, unless this task itself is told to end."""
    try:
        return await call
    except asyncio.CancelledError as problem:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise ForeignError(CANCELLED_WITHIN) from problem
    except (SystemExit, KeyboardInterrupt) as problem:
        raise ForeignError(f"{type(problem).__name__}: {problem}") from problem
