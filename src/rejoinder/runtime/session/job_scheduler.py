"""Waits for the scheduled job that is due next, and begins its turn (TU-26, TU-27).

Rule 1: when a job is due, and whether it becomes a turn, is decided by `turns.schedule` and `turns.job`.
Rule 2: due times are read from the store at every look, so an operator's change takes effect as soon as it is
        announced.
Rule 3: a job is done by the process that owns the home of its session, and by no other (SC-15).
Rule 4: there is one timer, and no wait is longer than half a minute: a process is not told when its machine slept or
        its clock was set.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

from msgspec import Struct

from rejoinder.errors import LeaseLost, StoreUnavailable, Superseded
from rejoinder.events import JobTicked
from rejoinder.runtime.hooks import TellHooks
from rejoinder.runtime.live import Live
from rejoinder.runtime.session.background import Background
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.write_batch import until_available
from rejoinder.store.base import PutJob, SkipTick, Store, StoredJob, Tick
from rejoinder.turns.heartbeat import asks_for_nothing, prompt_with
from rejoinder.turns.job import Job, JobConditions, obstacle
from rejoinder.turns.schedule import corrected_due, first_due, next_due, was_missed

log = logging.getLogger(__name__)

LONGEST_WAIT = 30.0

Begin = Callable[[Background, Tick], Awaitable[str | None]]


class JobHome(Struct, frozen=True):
    """The home of a job's session: its lanes, the function that begins a turn there, and its owner's store."""

    store: Store
    lanes: Lanes
    begin: Begin


class JobScheduler:
    def __init__(
        self,
        jobs: Live[tuple[Job, ...]],
        store: Store,
        home: Callable[[str], JobHome | None],
        clock: Callable[[], datetime],
        read: Callable[[str], str | None],
        tell: TellHooks,
        *,
        is_shared: bool = False,
    ) -> None:
        """`home` returns the home of a session; None if another process owns it, or it has not recovered. `read`
        returns the contents of a file, if there is one. `is_shared`: other processes may know jobs that are unknown
        here (SC-25)."""
        self._jobs = jobs
        jobs.on_change(self.changed)
        self._store = store
        self._home = home
        self._clock = clock
        self._read = read
        self._tell = tell
        self._is_shared = is_shared
        self._changed = asyncio.Event()
        self._looked: datetime | None = None

    def changed(self) -> None:
        """An operator may have paused, resumed or triggered a job."""
        self._changed.set()

    async def run(self) -> None:
        while True:
            self._changed.clear()
            try:
                due = await self.look()
            except StoreUnavailable as fault:
                await until_available(self._store, fault)
                continue
            except (Superseded, LeaseLost) as lost:  # an operator or another owner was faster: read the jobs again
                log.info("%s; the jobs are read again", lost)
                continue
            left = LONGEST_WAIT if due is None else (due - self._clock()).total_seconds()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, LONGEST_WAIT)):
                    await self._changed.wait()

    async def look(self) -> datetime | None:
        """Starts every job that is due, and returns when the next one is due."""
        kept = {each.name: each for each in await self._store.jobs()}
        jobs, now, before = self._jobs.now, self._clock(), self._looked
        self._looked = now
        may_be_ahead = before is None or now < before
        for gone in () if self._is_shared else kept.keys() - {job.name for job in jobs}:
            if kept[gone].schedule:
                await self._store.write(PutJob(gone, "", None))
        dues = [
            await self._attend(job, home, kept.get(job.name, StoredJob(job.name)), now, may_be_ahead)
            for job in jobs
            if (home := self._home(job.session)) is not None
        ]
        return min((due for due in dues if due is not None), default=None)

    async def _attend(
        self, job: Job, home: JobHome, kept: StoredJob, now: datetime, may_be_ahead: bool
    ) -> datetime | None:
        """Starts one job if it is due, and returns when it is due next."""
        due = kept.due
        if kept.schedule != job.written or kept.needs_schedule:
            due = first_due(job.schedule, now)
        elif due is not None and may_be_ahead:
            due = corrected_due(job.schedule, due, now)
        if due != kept.due or kept.schedule != job.written or kept.needs_schedule:
            await home.store.write(PutJob(job.name, job.written, due))
        is_due = due is not None and due <= now and not kept.paused
        if is_due or kept.wanted:
            following = next_due(job.schedule, due, now) if due is not None and is_due else due
            await self._tick(job, home, kept, Tick(job.name, due, following), now)
            due = following
        return None if kept.paused else due

    async def _tick(self, job: Job, home: JobHome, kept: StoredJob, tick: Tick, now: datetime) -> None:
        try:
            why = await self._fire(job, home, kept, tick, now)
        except (StoreUnavailable, Superseded, LeaseLost):
            raise
        except Exception as error:  # one job must not hold up the others
            log.exception("%s could not begin", job.name)
            why = f"failed: {type(error).__name__}"
        if why is not None:
            log.info("%s gets no turn: %s", job.name, why)
            await home.store.write(SkipTick(tick, why, now))
        self._tell(JobTicked(job.name, job.agent, job.session, why))

    async def _fire(self, job: Job, home: JobHome, kept: StoredJob, tick: Tick, now: datetime) -> str | None:
        """Begins the job's turn, or returns why there is none."""
        beats = job.heartbeat
        notes = await asyncio.to_thread(self._read, beats.notes) if beats is not None else None
        talking = beats is not None and await self._is_talked_to(job, home)
        if (why := obstacle(_conditions(job, home, kept, tick, notes, now, talking=talking))) is not None:
            return why
        moment = tick.due if tick.due is not None and tick.due != tick.next else now  # now: triggered by hand
        turn = Background(
            id=f"{job.name}@{moment.isoformat()}",
            agent=job.agent,
            session=job.session,
            text=job.prompt if beats is None or beats.reads_notes else prompt_with(job.prompt, notes),
            target=job.target,
            model=job.model,
            new_session=job.new_session,
            heartbeat=beats is not None,
        )
        return await home.begin(turn, tick)

    async def _is_talked_to(self, job: Job, home: JobHome) -> bool:
        """Whether people are talking in the job's session, or in the chat it would speak in, which may have another
        home."""
        there = home.lanes.at(job.target) if job.target is not None else []
        if any(lane.is_talked_to for lane in (home.lanes.get(job.session), *there) if lane is not None):
            return True
        return self._is_shared and job.target is not None and await home.store.is_talked_to(job.target)


def _conditions(
    job: Job, home: JobHome, kept: StoredJob, tick: Tick, notes: str | None, now: datetime, *, talking: bool
) -> JobConditions:
    beats = job.heartbeat
    if beats is None:
        missed = job.missed == "skip" and tick.due is not None and was_missed(tick.due, now)
        return JobConditions(running=kept.is_open, missed=missed, by_hand=kept.wanted)
    return JobConditions(
        running=kept.is_open,
        quiet=beats.hours is not None and beats.zone is not None and not beats.hours.contains(now, beats.zone),
        talking=talking,
        busy=(lane := home.lanes.get(job.session)) is not None and lane.is_busy,
        idle=notes is not None and asks_for_nothing(notes),
        by_hand=kept.wanted,
    )
