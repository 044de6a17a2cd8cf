"""Ends a process in which somebody else's code goes on: a task that ignores its cancellation, or a thread in which an
async function does its work. Python would wait for both for ever; the person who ends the gateway will not.
"""

import asyncio
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Final

PATIENCE: Final = 1.0
"""Seconds for tasks and threads that are still running when the work is done; all were told to end before."""
THREADS: Final = "rejoinder-work"
"""The beginning of the names of the threads that `asyncio.to_thread` uses."""
_kept = threading.Event()  # set if a task goes on, or something was not closed


class UnwaitedExecutor(ThreadPoolExecutor):
    """The loop's executor. It does not wait for its threads; `end_if_kept` does so for a moment."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix=THREADS)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)


def close(runner: asyncio.Runner) -> None:
    """Like `runner.close`, but does not wait for ever for a task. Ctrl-C ends it at once."""
    try:
        if runner.run(_end_others()):
            runner.close()
        else:
            _kept.set()
    except KeyboardInterrupt:
        _kept.set()
        raise


async def _end_others() -> bool:
    """Cancels all other tasks, and returns whether they have ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    _, going_on = await asyncio.wait(others, timeout=PATIENCE) if others else ((), ())
    return not going_on


def end_if_kept(status: object) -> None:
    """Ends the process at once with this status if something would keep it from ending; otherwise returns."""
    try:
        is_kept = _is_at_work() or _kept.is_set()
    except KeyboardInterrupt:  # who interrupts the wait wants the end at once
        is_kept = True
    if not is_kept:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)


def _is_at_work() -> bool:
    """Whether a thread still is, after a moment."""
    until = monotonic() + PATIENCE
    working = [thread for thread in threading.enumerate() if thread.name.startswith(THREADS)]
    for thread in working:
        thread.join(max(0.0, until - monotonic()))
    return any(thread.is_alive() for thread in working)
