"""Lets code wait without being `async`. Verbs and reads are written once for both engines, as functions that query a
connection and use its answer. Here each of them runs in a greenlet on the event loop, and lets others run while it
waits for its answer.

`start` runs a function that may `wait` for futures. Inside it, `FiberQueues` runs several at once.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar, cast

from greenlet import getcurrent, greenlet

T = TypeVar("T")


def start(work: Callable[[], object]) -> None:
    """Runs `work` to its end, continuing whenever a future it waits for is done."""
    fiber = greenlet(work)

    def go_on(_: asyncio.Future[Any] | None) -> None:
        waits_for = fiber.switch()
        if not fiber.dead:
            waits_for.add_done_callback(go_on)

    go_on(None)


def wait(future: asyncio.Future[T]) -> T:
    """Waits for a future, in code that `start` runs."""
    above = getcurrent().parent
    assert above is not None, "it runs in a fiber"
    above.switch(future)
    return future.result()


def pause() -> None:
    """Waits for the next answers, in code that `FiberQueues` run."""
    above = getcurrent().parent
    assert above is not None, "it runs in a fiber"
    above.switch()


Work = Callable[[], None]
DONE: Final = object()


class Fiber(greenlet):
    """Runs works, one after the other."""

    work: Work | None = None


def current_work() -> Work | None:
    """The work of the current fiber."""
    return getattr(getcurrent(), "work", None)


class FiberQueues:
    """Runs works side by side, inside code that `start` runs. The fibers are kept for later works, because making one
    takes longer than most works do."""

    def __init__(self) -> None:
        self._idle: list[Fiber] = []

    def run(self, queues: Iterable[Iterable[Work]], next_answers: Callable[[], None]) -> None:
        """Each queue runs its works one after the other. When all queues pause, one round trip brings the answers for
        all."""
        paused: deque[tuple[deque[Work], Fiber]] = deque()
        try:
            for queue in queues:
                self._go_on(deque(queue), None, paused)
            while paused:
                next_answers()
                for _ in range(len(paused)):
                    self._go_on(*paused.popleft(), paused)
        finally:
            for _, fiber in paused:  # one of the works failed: ends the others
                fiber.throw()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().throw()

    def _go_on(self, queue: deque[Work], fiber: Fiber | None, paused: deque[tuple[deque[Work], Fiber]]) -> None:
        """Runs works of the queue until one pauses or the queue is empty."""
        while fiber is not None or queue:
            if fiber is None:
                fiber = self._idle.pop() if self._idle else Fiber(self._serve)
                fiber.work = queue.popleft()
            state = fiber.switch()
            if state is not DONE:
                paused.append((queue, fiber))
                return
            fiber = None

    def _serve(self) -> None:
        """The loop of a fiber, until it is closed or a work fails."""
        fiber = cast(Fiber, getcurrent())
        assert fiber.parent is not None, "it runs in a fiber"
        while fiber.work is not None:
            fiber.work()
            fiber.work = None  # so that an idle fiber keeps nothing alive
            self._idle.append(fiber)
            fiber.parent.switch(DONE)
