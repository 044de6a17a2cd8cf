"""An event loop whose clock jumps: who waits for a minute waits for as long as it takes to see that nothing else comes.

What goes on outside the loop has real time before each jump: threads that the loop waits for have seconds, sockets a
moment.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any

MOMENT = 0.005
SECONDS_FOR_THREADS = 5.0


class _Jumping(selectors.DefaultSelector):
    jumped = 0.0
    threads = 0

    def select(self, timeout: float | None = None) -> Any:
        patience = SECONDS_FOR_THREADS if self.threads else MOMENT
        if timeout is None or timeout <= patience:
            return super().select(timeout)
        began = time.monotonic()
        found = super().select(patience)
        if not found:
            self.jumped += timeout - (time.monotonic() - began)
        return found

    def thread_ended(self, _: object) -> None:
        self.threads -= 1


class VirtualTime(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return time.monotonic() + self._jumping.jumped

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":
        ended = super().run_in_executor(executor, func, *args)
        self._jumping.threads += 1
        ended.add_done_callback(self._jumping.thread_ended)
        return ended
