"""Owns every task of the gateway.

Rule 1: `create_task` appears in this file only, so whatever runs has a name and somebody who waits for it.
Rule 2: what was cancelled is waited for: when `cancel` or `close` returns, nothing of it runs on. A timer may
        still fire then: what it starts does not begin.
Rule 3: a task that fails is one log line with its name; it takes no other task along. One that comes too late for the
        store has not failed: the gateway ends, and the next one goes on with what is kept.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Self

from rejoinder.errors import RejoinderError, StoreUnavailable

log = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds in which what was cancelled ends, unless it waits for something that will not come."""


class Runs:
    """The tasks of one gateway; leaving the block ends them all."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._patience = patience
        self._closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    def has(self, name: str) -> bool:
        """Whether something of this name runs."""
        return any(task.get_name() == name for task in self._tasks)

    def start(
        self, name: str, work: Coroutine[Any, Any, None], then: Callable[[], None] | None = None
    ) -> asyncio.Task[None]:
        """`then` is called when it has ended, however it ended, also when it never came to run."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended if then is None else partial(self._ended, then=then))
        if self._closed:
            task.cancel()
        return task

    def _ended(self, task: asyncio.Task[None], then: Callable[[], None] | None = None) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _tell_failure(task.get_name(), error)
        if then is not None:
            then()

    async def wait(self, task: asyncio.Task[None], seconds: float | None = None) -> None:
        """Returns when it has ended, however it ended, or after so many seconds.

        A waiter that is cancelled leaves it running.
        """
        await asyncio.wait({task}, timeout=seconds)

    async def cancel(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        await self.wait(task)

    async def idle(self, besides: Iterable[asyncio.Task[None]] = ()) -> None:
        """Returns when nothing runs any more besides these; what is started meanwhile counts."""
        while tasks := self._tasks.difference(besides):
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """What waits, while it ends, for somebody who has ended already is told once more."""
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=self._patience)
        self._closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _tell_failure(name: str, error: BaseException) -> None:
    if isinstance(error, StoreUnavailable) and error.fault == "closed":
        return log.debug("%s has ended with the store", name)
    whose = None if isinstance(error, RejoinderError) else error  # a sentence for the operator needs no stack
    log.error("%s failed: %s", name, error, exc_info=whose)
