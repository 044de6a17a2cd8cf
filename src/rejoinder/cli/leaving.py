"""The end of a process in which somebody else's code goes on: a task that takes no notice of being cancelled, or a
thread that an async function has handed its work to. Python would wait for both, for ever; whoever told the gateway to
end does not.
"""

import asyncio
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Final

PATIENCE: Final = 1.0
"""Seconds for what still runs when the work is done; all of it has been told to end before."""
THREADS: Final = "rejoinder-work"
"""What the names of the threads begin with in which `asyncio.to_thread` works."""
_left: list[str] = []  # the tasks that go on, and what was not closed


class Executor(ThreadPoolExecutor):
    """That of the loop. It does not wait for its threads: `leave` does, for a moment."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix=THREADS)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)


def close(runner: asyncio.Runner) -> None:
    """Like `runner.close`, which waits for every task. Who interrupts it wants the end at once."""
    try:
        if going_on := runner.run(_ended()):
            _left.extend(going_on)
        else:
            runner.close()
    except KeyboardInterrupt:
        _left.append("what was being closed")
        raise


async def _ended() -> list[str]:
    """Cancels all other tasks; the names of those that do not end of it."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if not others:
        return []
    _, going_on = await asyncio.wait(others, timeout=PATIENCE)
    return [task.get_name() for task in going_on]


def leave(status: object) -> None:
    """Ends the process at once with this status if something would keep it from ending; otherwise returns."""
    until = monotonic() + PATIENCE
    working = [thread for thread in threading.enumerate() if thread.name.startswith(THREADS)]
    for thread in working:
        thread.join(max(0.0, until - monotonic()))
    if not _left and not any(thread.is_alive() for thread in working):
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)
