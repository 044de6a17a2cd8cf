"""Messages during a run: the agent takes each at its next step, or the message gets its own turn.

Rule 1: a message is taken or refused, never both: a caller that stops waiting has withdrawn its message.
Rule 2: `take` may be called from any thread, and never blocks.
"""

import threading
from asyncio import wrap_future
from concurrent.futures import Future

from rejoinder.events import Turn


class SteeringOffers:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offers: list[tuple[Turn, Future[bool]]] = []
        self._closed = False

    def take(self) -> list[Turn]:
        """The messages since the last call, oldest first; this run now has to answer them."""
        if not self._offers:
            return []
        with self._lock:
            offers, self._offers = self._offers, []
        taken = [(turn, answer) for turn, answer in offers if answer.set_running_or_notify_cancel()]
        for _, answer in taken:
            answer.set_result(True)
        return [turn for turn, _ in taken]

    async def offer(self, turn: Turn) -> bool:
        """Returns whether the run took the message, once it has or the run has ended."""
        answer: Future[bool] = Future()
        with self._lock:
            if self._closed:
                return False
            self._offers.append((turn, answer))
        return await wrap_future(answer)

    def close(self) -> None:
        """Called when the run is over: offers that it has not taken are refused."""
        with self._lock:
            self._closed = True
            offers, self._offers = self._offers, []
        for _, answer in offers:
            if answer.set_running_or_notify_cancel():
                answer.set_result(False)
