"""Drives the runs of a lane, one at a time, from the slot to the end.

Rule 1: every Start is ended by exactly one RunEnded, only in `RunDriver._free`, whatever ended the run, and only after
        the store has recorded the end. So the session's next turn finds the session free.
Rule 2: a run that does not end when told to is left behind: its lane goes on, and the run may no longer speak.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Protocol

from msgspec import Struct

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Route
from rejoinder.runtime.live import Live
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.session.turn_inputs import DroppedInput, TurnInput
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.tasks import Tasks
from rejoinder.turns.run_state import EndCause
from rejoinder.turns.run_timeout import Expired, NextCheck, RunTimeouts, examine
from rejoinder.turns.signals import Event, Reason, RunEnded

log = logging.getLogger(__name__)

GRACE = 1.5
"""Seconds that a run has to end after it was told to; then its lane goes on without it."""
STEER_PATIENCE = 10.0
"""Seconds that an ended run has to say whether it took in what it was offered. A live run has no limit, as it may be in
a long step."""


class TurnRunner(Protocol):
    """Does the work of a lane."""

    async def run(self, run: Run) -> None: ...

    async def steer(self, run: Run, inputs: tuple[TurnInput, ...]) -> bool: ...

    async def inputs_left_out(
        self, inputs: tuple[TurnInput, ...], reason: Reason | None, dropped: tuple[DroppedInput, ...]
    ) -> None:
        """Called for messages that get no turn: they were dropped for this reason or, if None, summarised in one line
        each.

        `dropped`: the notices that were planned for their senders.
        """
        ...


class RunJournal(Protocol):
    """Records what the lanes do."""

    async def begin(self, run: Run) -> None:
        """Claims the turn for the run; `run.claiming` says whether the claim can still be called off."""
        ...

    async def record_steered(self, run: Run, inputs: tuple[TurnInput, ...]) -> None: ...

    async def leave_out(
        self, session: str, agent: str, inputs: tuple[TurnInput, ...], reason: Reason | None
    ) -> tuple[DroppedInput, ...]:
        """Stores that these messages get no turn. Returns the notices planned for their senders."""
        ...

    async def end(self, run: Run) -> None:
        """Records the end of a run whose work did not do so."""
        ...


class LaneDeps(Struct, frozen=True):
    """What the lanes of an engine share."""

    runner: TurnRunner
    journal: RunJournal
    tasks: Tasks
    slots: Slots
    settings: Live[RuntimeSettings]
    """They say how long a run that begins now may take."""
    watch: Callable[[RunTimeouts], None]
    """Called when a run with these limits has begun."""
    rest: "Callable[[RunDriver], None]"
    """Called when the lane has nothing to do and nothing to remember."""
    is_draining: Callable[[], bool]
    """Whether no run may begin any more."""


class RunDriver:
    """The part of a lane that drives its run; the lane itself decides which run begins, and when."""

    key: str
    routes: set[Route]
    """The places whose messages it has received."""
    run: Run | None
    _deps: LaneDeps
    _tasks: Tasks
    _offering: asyncio.Timeout | None
    """The time limit for a run's answer to the messages it was offered."""

    def feed(self, event: Event) -> None:
        """Tells the lane what has happened."""
        raise NotImplementedError

    @property
    def is_at_work(self) -> bool:
        """Whether its run has a slot and has not ended."""
        return self.run is not None and self.run.task is not None and not self.run.ended.is_set()

    async def drain(self) -> None:
        """Gives the current run back, so that the next process runs it again."""
        run = self.run
        if run is not None and not run.ended.is_set():
            run.end_by(EndCause.SHUTDOWN)
            if run.task is None:
                self._ended(run)
            else:
                run.task.cancel()
                asyncio.get_running_loop().call_later(GRACE, self._ended, run)
            await run.ended.wait()

    def _go(self, run: Run) -> None:
        if run.state.is_over:
            return  # it was stopped or given back while it waited for a slot; `_free` releases the slot
        work = self._tasks.start(f"run:{self.key}", self._work(run), then=partial(self._ended, run))
        limits = self._deps.settings.now.run_timeouts
        run.start_work(work, limits)
        self._deps.watch(limits)

    async def _work(self, run: Run) -> None:
        if run.granted is None:
            claiming = self._tasks.start(f"claim:{self.key}", self._deps.journal.begin(run))
            await self._tasks.wait(run.claiming.begin(claiming))
            if run.granted is None:
                return
        crashpoint("K8")
        await self._deps.runner.run(run)

    def _ended(self, run: Run) -> None:
        """Called for every run: done, failed, cancelled, expired, left behind, or never begun."""
        if run.state.is_over:
            return
        run.mark_over()
        if self._offering is not None:
            self._offering.reschedule(asyncio.get_running_loop().time() + STEER_PATIENCE)
            self._offering = None
        if run.state.is_recorded:
            self._free(run)
        else:
            self._tasks.start(f"end:{self.key}", self._close(run), then=partial(self._free, run))

    async def _close(self, run: Run) -> None:
        if (claiming := run.claiming.call_off()) is not None:
            await self._tasks.wait(claiming)
        try:
            await self._deps.journal.end(run)
        except StoreUnavailable:
            log.debug("%s: the store is closed, the next process finds the run open", self.key)

    def _free(self, run: Run) -> None:
        run.ended.set()
        if self.run is run:
            self.run = None  # leaves no reference cycle, so the run is freed with its last reference
        self._deps.slots.release(self.key)
        self.feed(RunEnded(run.start.run))

    def _abort(self, number: int) -> None:
        run = self.run
        if run is None or run.start.run != number or run.state.is_over:
            return
        if run.task is None:
            self._ended(run)
        else:
            run.task.cancel()
            asyncio.get_running_loop().call_later(GRACE, self._ended, run)

    def times_out_at(self, now: float) -> float | None:
        """The time before which the current run cannot time out; ends a run that has timed out."""
        run = self.run
        if run is None or run.task is None or run.state.is_over or run.state.cause is not None:
            return None
        match examine(run.timer.at(run.start.run, now), run.timer.limits, now):
            case NextCheck(at=at):
                return at
            case Expired(why=why):
                log.warning("%s: the run took too long (%s timeout)", self.key, why)
                run.end_by(EndCause.TIMEOUT)
                self._tasks.start(f"expire:{self.key}", self._expire(run))
                return None

    async def _expire(self, run: Run) -> None:
        if run.task is not None:
            run.task.cancel()
            await self._tasks.wait(run.task, GRACE)
        self._ended(run)
