"""Owns every task of the gateway.

Rule 1: `create_task` appears in this file only, so every task has a name and an owner that waits for it.
Rule 2: cancelled tasks are awaited: when `cancel` or `close` returns, none of them is still running, except those that
        ignore repeated cancellation. A timer may fire after `close`; a task it starts is cancelled before it begins.
Rule 3: a task that fails costs one log entry with its name and affects no other task. A task that finds the store
        closed has not failed: the gateway is ending, and the next process goes on with what is stored.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Self, TypeVar

from rejoinder.errors import LeaseLost, RejoinderError, StoreUnavailable

T = TypeVar("T")

log = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds in which a cancelled task should end, unless it waits for something that will never happen."""
TIMES = 2
"""How often a task is cancelled before it is left behind."""


class Tasks:
    """The tasks of one gateway; leaving the block ends them all. `scope` gives a part of the gateway tasks of its
    own."""

    def __init__(self, patience: float = PATIENCE, whole: "Tasks | None" = None) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._left: set[asyncio.Task[None]] = set()  # those that take no notice of being cancelled
        self._patience = patience
        self._all: tuple[Tasks, ...] = (self,) if whole is None else (self, *whole._all)  # all own its tasks
        self._closed = False

    def scope(self) -> "Tasks":
        """A group of tasks that can be ended separately and also belongs to these."""
        return Tasks(self._patience, self)

    def __len__(self) -> int:
        return len(self._tasks)

    def has(self, name: str) -> bool:
        """Whether a task of this name is running."""
        return bool(self.named(name))

    def names(self) -> str:
        """What runs, but for what is left behind: that has been logged."""
        return _names(self._tasks - self._left)

    def named(self, name: str) -> "list[asyncio.Task[None]]":
        return [task for task in self._tasks if task.get_name() == name]

    def start(
        self, name: str, work: Coroutine[Any, Any, None], then: Callable[[], None] | None = None
    ) -> asyncio.Task[None]:
        """`then` is called when the task has ended, in whatever way, even if it never began to run."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        for tasks in self._all:
            tasks._tasks.add(task)
            if tasks._closed:
                task.cancel()
        task.add_done_callback(self._ended if then is None else partial(self._ended, then=then))
        return task

    def _ended(self, task: asyncio.Task[None], then: Callable[[], None] | None = None) -> None:
        for tasks in self._all:
            tasks._tasks.discard(task)
            tasks._left.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _tell_failure(task.get_name(), error)
        if then is not None:
            then()

    async def wait(self, task: asyncio.Task[None], seconds: float | None = None) -> None:
        """Returns when the task has ended, in whatever way, or after this many seconds.

        Cancelling the waiter does not cancel the task.
        """
        await asyncio.wait({task}, timeout=seconds)

    async def finish(self, name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Does this work and returns its result. Cancelling the caller does not cancel the work."""
        results: list[T] = []
        faults: list[Exception] = []
        waits = True

        async def do() -> None:
            try:
                results.append(await work())
            except Exception as fault:
                if not waits:
                    raise
                faults.append(fault)

        try:
            await self.wait(self.start(name, do()))
        finally:
            waits = False
        if faults:
            raise faults[0]
        if not results:
            raise asyncio.CancelledError
        return results[0]

    async def cancel(self, task: asyncio.Task[None]) -> None:
        await self._end({task})

    async def idle(self, besides: Iterable[asyncio.Task[None]] = ()) -> None:
        """Returns when only these tasks are running; it also waits for tasks started meanwhile."""
        while tasks := self._tasks.difference(besides):
            await asyncio.wait(tasks)

    def kill(self) -> None:
        """Cancels all tasks, including those started from now on, without waiting for them."""
        self._closed = True
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Cancels all tasks, including those started meanwhile, and waits for them."""
        while tasks := self._tasks - self._left:
            await self._end(tasks)
        self._closed = True

    async def _end(self, tasks: set[asyncio.Task[None]]) -> None:
        """Cancels a task again if it does not end in time, for example because it waits for a task that is gone. Does
        not wait any longer for tasks that ignore this, which may be foreign code."""
        tasks = tasks - self._left
        for _ in range(TIMES):
            for task in tasks:
                task.cancel()
            if tasks:
                _, tasks = await asyncio.wait(tasks, timeout=self._patience)
        if tasks := tasks - self._left:  # another caller may have waited, too
            self._left |= tasks
            log.warning("%s: does not end although it is cancelled, and is left behind", _names(tasks))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def until_cancelled() -> None:
    await asyncio.Event().wait()


def _names(tasks: Iterable[asyncio.Task[None]]) -> str:
    return ", ".join(sorted({task.get_name() for task in tasks}))


def _tell_failure(name: str, error: BaseException) -> None:
    if isinstance(error, StoreUnavailable) and error.fault == "closed":
        return log.debug("%s has ended with the store", name)
    if isinstance(error, LeaseLost):
        return log.debug("%s has ended with its lease", name)
    # A RejoinderError is a sentence for the operator and needs no stack.
    whose = None if isinstance(error, RejoinderError) else error
    log.error("%s failed: %s", name, error, exc_info=whose)
