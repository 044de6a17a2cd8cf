"""Deadlines that are rarely reached: one timer of the event loop serves them all.

A timer for each deadline would cost more than most of the work it guards: it goes into the loop's heap and stays there
even when it is cancelled. Here setting and cancelling an alarm only touch a set. The whole set is scanned only when the
earliest deadline comes, even if its alarm was cancelled.
"""

import asyncio
from collections.abc import Callable
from math import inf


class Alarm:
    __slots__ = ("_alarms", "call", "when")

    def __init__(self, when: float, call: Callable[[], None], loop: asyncio.AbstractEventLoop) -> None:
        global _alarms
        if _alarms is None or _alarms.loop is not loop:
            _alarms = _Alarms(loop)
        self.when = when
        self.call = call
        self._alarms = _alarms
        _alarms.pending.add(self)
        if when < _alarms.next:
            _alarms.set_timer(when)

    def cancel(self) -> None:
        self._alarms.pending.discard(self)
        self.call = _nothing  # the owner of the callback often keeps the alarm: the two would keep each other alive


def _nothing() -> None:
    pass


def call_at(when: float, call: Callable[[], None]) -> Alarm:
    """Like the loop's `call_at`, on the running loop."""
    return Alarm(when, call, asyncio.get_running_loop())


def call_later(seconds: float, call: Callable[[], None]) -> Alarm:
    """Like the loop's `call_later`, on the running loop."""
    loop = asyncio.get_running_loop()  # once: on Python 3.11 it is a system call
    return Alarm(loop.time() + seconds, call, loop)


class timeout:
    """Like `asyncio.timeout`, but with an alarm: it cancels what the block waits for, and the block raises
    TimeoutError."""

    __slots__ = ("_alarm", "_cancelling", "_is_over", "_seconds", "_task")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_over = False

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None, "only a task can be cancelled"
        self._task, self._cancelling = task, task.cancelling()
        self._alarm = Alarm(loop.time() + self._seconds, self._end, loop)

    def _end(self) -> None:
        self._is_over = True
        self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: object) -> None:
        self._alarm.cancel()
        if self._is_over and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from problem


class _Alarms:
    """The alarms of one loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.pending: set[Alarm] = set()
        self.next = inf
        """When the timer goes off, if it is set."""
        self._timer: asyncio.TimerHandle | None = None

    def set_timer(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self.next = self.loop.call_at(when, self._ring), when

    def _ring(self) -> None:
        self._timer, self.next = None, inf
        now = self.loop.time()
        due = sorted([alarm for alarm in self.pending if alarm.when <= now], key=lambda alarm: alarm.when)
        if later := self.pending.difference(due):
            self.set_timer(min([alarm.when for alarm in later]))
        for alarm in due:
            self.loop.call_soon(self._call, alarm)

    def _call(self, alarm: Alarm) -> None:
        if alarm in self.pending:  # the alarm before it may have cancelled it
            self.pending.discard(alarm)
            alarm.call()


_alarms: _Alarms | None = None
"""Those of the loop that was used last."""
