"""Code that waits without being `async`: verbs and reads are written once for both engines, as functions that ask a
connection and use its answer. Here each of them runs in a greenlet on the event loop, and lets others run while its
answer is under way.

`start` runs a function that may `wait` for futures. Inside it, `run_lanes` runs several at once.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

T = TypeVar("T")


def start(work: Callable[[], object]) -> None:
    """Runs `work` up to its end, whenever what it waits for is there."""
    fiber = greenlet(work)

    def go_on(_: asyncio.Future[Any] | None) -> None:
        waits_for = fiber.switch()
        if not fiber.dead:
            waits_for.add_done_callback(go_on)

    go_on(None)


def wait(future: asyncio.Future[T]) -> T:
    """Called in what `start` runs."""
    above = getcurrent().parent
    assert above is not None, "it runs in a fiber"
    above.switch(future)
    return future.result()


def pause() -> None:
    """Called in what `run_lanes` runs: until the next answers are there."""
    above = getcurrent().parent
    assert above is not None, "it runs in a lane"
    above.switch()


Work = Callable[[], None]


def run_lanes(lanes: Iterable[Iterable[Work]], next_answers: Callable[[], None]) -> None:
    """Runs the works of each lane one after the other, and the lanes side by side: when all of them pause, one round
    trip brings the answers for all."""
    queues = [deque(lane) for lane in lanes]
    running: list[tuple[deque[Work], greenlet]] = []
    try:
        for queue in queues:
            _go_on(queue, None, running)
        while running:
            next_answers()
            paused, running = running, []
            for index, (queue, fiber) in enumerate(paused):
                try:
                    _go_on(queue, fiber, running)
                except BaseException:
                    running += paused[index + 1 :]
                    raise
    finally:
        for _, fiber in running:  # what failed elsewhere is not waited for
            fiber.throw()


def _go_on(queue: deque[Work], fiber: greenlet | None, running: list[tuple[deque[Work], greenlet]]) -> None:
    """Until it pauses, or the queue is empty."""
    while fiber is not None or queue:
        fiber = fiber or greenlet(queue.popleft())
        fiber.switch()
        if not fiber.dead:
            running.append((queue, fiber))
            return
        fiber = None
