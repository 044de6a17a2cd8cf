"""An event loop whose clock jumps: who waits for a minute waits for as long as it takes to see that nothing else comes.

What goes on outside the loop, in threads and sockets, has a moment of real time before each jump.
"""

import asyncio
import selectors
import time
from typing import Any

MOMENT = 0.005


class _Jumping(selectors.DefaultSelector):
    jumped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= MOMENT:
            return super().select(timeout)
        began = time.monotonic()
        found = super().select(MOMENT)
        if not found:
            self.jumped += timeout - (time.monotonic() - began)
        return found


class VirtualTime(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return time.monotonic() + self._jumping.jumped
