"""Enforces the contract for every agent kind, so that each kind implements only its own part.

Rule 1: a run ends with exactly one Done or Failed, whatever the agent does.
Rule 2: an error never leaves a run as an exception; it is a Failed with a sentence. That includes sys.exit() and
KeyboardInterrupt, which would end the gateway: an agent ends its own run and no more.
Rule 3: silence longer than `idle`, or a run longer than `hard`, ends the run; while it waits for a person's answer,
silence is fine.
Rule 4: when closing the iterator returns, the agent's own iterator has been closed too.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from math import inf

from rejoinder.agents.base import FINAL_EVENTS, FREQUENT_EVENTS, AgentEvent, Question
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.alarms import Alarm, call_at

log = logging.getLogger(__name__)

CANCELLED_WITHIN = "something that it waited for was cancelled"


class GuardedEvents:
    """The events of a run. It is not a generator: ending one takes an exception, which costs more than an event.

    `ends_itself`: the agent's generator returns right after its last event, and need not be ended either.
    """

    def __init__(
        self,
        events: AsyncGenerator[AgentEvent, None],
        *,
        idle: float | None = None,
        hard: float | None = None,
        ends_itself: bool = False,
    ) -> None:
        self._events = events
        self._watch = _Watch(idle, hard)
        self._ends_itself = ends_itself
        self._is_asking = False
        self._is_closed = False

    def __aiter__(self) -> "GuardedEvents":
        return self

    async def __anext__(self) -> AgentEvent:
        if self._is_closed:
            raise StopAsyncIteration
        watch = self._watch
        watch.begin(patient=self._is_asking)
        try:
            event = await anext(self._events)
        except StopAsyncIteration:
            event = failed("crashed", "the agent ended without saying that it is done")
        except RunFailed as problem:
            event = problem.failure
        except TimeoutError as problem:
            event = failed("timeout", f"inside the agent: {problem!r}")
        except asyncio.CancelledError:
            late = watch.end()
            if late is None and _is_told_to_end():
                await self.aclose()
                raise
            event = failed("timeout", late) if late is not None else failed("crashed", CANCELLED_WITHIN)
        except BaseException as problem:  # Rule 2: whatever it is, the person gets a sentence
            if isinstance(problem, GeneratorExit) and not watch.is_watched():
                await self.aclose()
                raise
            event = failed("crashed", f"{type(problem).__name__}: {problem}")
        watch.end()
        self._is_asking = False
        if type(event) in FREQUENT_EVENTS:
            return event
        if isinstance(event, FINAL_EVENTS):
            if self._ends_itself:
                await anext(self._events, None)
            await self.aclose()  # first, as the receiver of the last event may start the next run at once
        else:
            self._is_asking = isinstance(event, Question)
        return event

    async def aclose(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._watch.close()
            await _close(self._events)


async def _close(events: AsyncGenerator[AgentEvent, None]) -> None:
    """Ignores what an agent raises while its run is being ended."""
    try:
        await events.aclose()
    except BaseException as problem:
        if isinstance(problem, asyncio.CancelledError) and _is_told_to_end():
            raise
        log.warning("an agent failed while its run was ended: %s: %s", type(problem).__name__, problem)


def _is_told_to_end() -> bool:
    """Whether the current task was cancelled; otherwise a CancelledError is just an error inside the agent."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Watch:
    """Rule 3 with one alarm for the whole run: a timeout for each event costs more than most events.

    The alarm is set for the earliest moment at which the run can be late, and checks again then. It cancels the task
    only while the task waits for the agent, as `asyncio.timeout` does.
    """

    def __init__(self, idle: float | None, hard: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle = idle
        self._hard = hard
        self._last = inf if hard is None else self._loop.time() + hard
        self._due = inf
        self._alarm: Alarm | None = None
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._waiting = False
        self._late: str | None = None

    def begin(self, *, patient: bool) -> None:
        """Begins the wait for the next event; a patient wait has no idle timeout."""
        task = asyncio.current_task(self._loop)
        if task is not self._task and task is not None:
            self._task, self._cancelling = task, task.cancelling()
        self._waiting = True
        quiet = inf if self._idle is None or patient else self._loop.time() + self._idle
        self._due = quiet if quiet < self._last else self._last
        if self._alarm is None or self._alarm.when > self._due:
            self._set_alarm()

    def is_watched(self) -> bool:
        """Whether the waiting task is running. If it is not, its coroutine is being thrown away unfinished."""
        return asyncio.current_task(self._loop) is self._task

    def end(self) -> str | None:
        """Ends the wait. Returns how the run was late if this watch cancelled it, else None."""
        self._waiting = False
        late, self._late = self._late, None
        if late is None or self._task is None or self._task.uncancel() > self._cancelling:
            return None  # we did not cancel the task, or another caller cancelled it too
        return late

    def close(self) -> None:
        self._waiting = False
        if self._alarm is not None:
            self._alarm.cancel()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = call_at(self._due, self._look) if self._due < inf else None

    def _look(self) -> None:
        self._alarm = None
        if not self._waiting or self._task is None:
            return  # the task is not waiting for the agent: the next wait sets the alarm again
        if self._loop.time() < self._due:
            self._set_alarm()
        else:
            if self._due == self._last:
                self._late = f"the run took longer than {self._hard:g} s (its hard timeout)"
            else:
                self._late = f"nothing came for {self._idle:g} s (the idle timeout)"
            self._task.cancel()
