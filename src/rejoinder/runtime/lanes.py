"""Drives the lanes: performs what `turns.lane` decides, and gives it the answers it is owed.

Rule 1: every Start is ended by one RunEnded, in `SessionLane._ended` and nowhere else, whatever ended the run.
Rule 2: every Steer is answered, also when the run is over by then; every WakeAfter comes back as Quiet.
Rule 3: `feed` never waits, so between two messages of a lane nothing can slip in.
Rule 4: a run that does not end when it is told to is left behind: its lane goes on, and it may not speak.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Protocol

from msgspec import Struct

from rejoinder.events import Route, Said
from rejoinder.inbound.message import Message
from rejoinder.runtime.conversations import Conversation
from rejoinder.runtime.presence import StatusSigns
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.slots import Slots
from rejoinder.turns import backlog
from rejoinder.turns.lane import Lane, Phase, may_speak, step
from rejoinder.turns.lease import Expired, Held, Lease, LeaseSettings, examine
from rejoinder.turns.modes import QueueSettings
from rejoinder.turns.signals import (
    Abort,
    Action,
    Arrived,
    Discard,
    Event,
    ModeChanged,
    Quiet,
    Reason,
    RunEnded,
    RunStarted,
    Start,
    Steer,
    Steered,
    SteerRefused,
    SteerTaken,
    Stop,
    Summarise,
    WakeAfter,
)
from rejoinder.turns.status import State

log = logging.getLogger(__name__)

GRACE = 1.5
"""Seconds a run has to end after it was told to; then its lane goes on without it."""
STEER_PATIENCE = 10.0
TIMED_OUT = "The agent did not answer in time; please try again."


class Asked(Struct, frozen=True):
    """A message that is to have a turn: as it was decided, where it was said, what was said around it before."""

    id: str
    message: Message
    conversation: Conversation
    handle: str | None = None
    overheard: tuple[Said, ...] = ()
    signs: StatusSigns | None = None


class Crew(Protocol):
    """Who does the work of a lane."""

    async def run(self, run: "Run") -> None: ...

    async def steer(self, run: "Run", asked: tuple[Asked, ...]) -> bool: ...

    async def left_out(self, asked: tuple[Asked, ...], reason: Reason | None) -> None:
        """These got no turn: dropped for this reason, or (None) told to the agent in a line each."""
        ...


class Run:
    """A turn on lease: one generation of one lane."""

    def __init__(self, lane: "SessionLane", start: Start, asked: tuple[Asked, ...]) -> None:
        self.session = lane.key
        self.agent = lane.agent
        self.start = start
        self.asked = asked
        self.taken_in: tuple[Asked, ...] = ()  # what it was steered with
        self.task: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.over = False
        self.expired = False
        self.started = self.last_seen = 0.0
        self._lane = lane

    @property
    def conversation(self) -> Conversation:
        """Where it was asked, and so where it is answered (IN-44)."""
        return self.asked[-1].conversation

    @property
    def trigger(self) -> str:
        return self.asked[-1].message.inbound.message_id

    def may_speak(self) -> bool:
        return not self.over and not self.expired and may_speak(self._lane.lane, self.start.run)

    def begun(self, *, can_steer: bool) -> None:
        """The agent has the turn."""
        self._lane.feed(RunStarted(self.start.run, can_steer))

    def seen(self) -> None:
        """A sign of life."""
        self.last_seen = monotonic()


class SessionLane:
    def __init__(
        self,
        key: str,
        agent: str,
        settings: QueueSettings,
        crew: Crew,
        runs: Runs,
        slots: Slots,
        lease: LeaseSettings,
        rest: "Callable[[SessionLane], None]",
    ) -> None:
        self.key = key
        self.routes: set[Route] = set()
        self.agent = agent
        self.lane = Lane(settings)
        self.run: Run | None = None
        self._asked: dict[str, Asked] = {}
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._crew = crew
        self._runs = runs
        self._slots = slots
        self._lease = lease
        self._rest = rest

    @property
    def is_idle(self) -> bool:
        return self.lane.phase is Phase.IDLE and not self.lane.after_abort

    @property
    def is_running(self) -> bool:
        return self.lane.phase in (Phase.STARTING, Phase.RUNNING)

    @property
    def waiting(self) -> int:
        return len(self.lane.waiting)

    def is_at(self, route: Route) -> bool:
        """Something of this place runs or waits here."""
        running = self.run.asked if self.run is not None and self.is_running else ()
        return any(asked.conversation.route == route for asked in (*running, *self._asked.values()))

    def arrive(self, asked: Asked, message: backlog.Message) -> None:
        self._asked[asked.id] = asked
        self.routes.add(message.route)
        self.feed(Arrived(message))
        if asked.signs is not None and self._waits(asked):
            asked.signs.became(State.QUEUED)

    def _waits(self, asked: Asked) -> bool:
        """It stands in the line, or its run has found no room yet."""
        in_line = asked.id in self._asked
        return in_line or (self.run is not None and self.run.task is None and asked in self.run.asked)

    def obey(self, settings: QueueSettings) -> None:
        if settings != self.lane.settings:
            self.feed(ModeChanged(settings))

    async def stop(self) -> None:
        """Returns when what ran has ended, or has been left behind."""
        run = self.run
        self.feed(Stop())
        if run is not None and run.task is not None:
            await self._runs.wait(run.task, GRACE)

    def feed(self, event: Event) -> None:
        self.lane, actions = step(self.lane, event)
        for action in actions:
            self._perform(action)
        if self.is_idle:
            self._rest(self)

    def _perform(self, action: Action) -> None:
        match action:
            case Start():
                self.run = run = Run(self, action, self._take(action.ids))
                self._slots.ask(self.key, self.agent, lambda: self._go(run))
            case Steer(ids=ids):
                asked = tuple(self._asked[id] for id in ids)
                task = self._runs.start(f"steer:{self.key}", self._offer(action, asked))
                # Whatever became of the offer, it is answered; an answer that comes twice is harmless.
                task.add_done_callback(lambda _: self.feed(SteerRefused(action.run, ids)))
            case Steered(ids=ids):
                self._taken_in(self._take(ids))
            case Abort(run=number):
                self._abort(number)
            case WakeAfter(ms=ms, after=after):
                self._timers[after] = self._runs.start(f"quiet:{self.key}", self._wake(ms, after))
            case Summarise(ids=ids):
                self._runs.start(f"tell:{self.key}", self._crew.left_out(self._take(ids), None))
            case Discard(ids=ids, reason=reason):
                self._runs.start(f"tell:{self.key}", self._crew.left_out(self._take(ids), reason))

    def _take(self, ids: tuple[str, ...]) -> tuple[Asked, ...]:
        for id in ids:
            if timer := self._timers.pop(id, None):
                timer.cancel()  # what has left the line waits for nobody's quiet
        return tuple(self._asked.pop(id) for id in ids)

    def _taken_in(self, asked: tuple[Asked, ...]) -> None:
        """They share the fate of the run they went into; when that is over by now, all is said already."""
        if self.run is not None:
            self.run.taken_in += asked
            return
        for each in asked:
            if each.signs is not None:
                each.signs.ended(ok=True)

    # --- a run from its slot to its end -----------------------------------------------------------

    def _go(self, run: Run) -> None:
        run.started = run.last_seen = monotonic()
        run.task = self._runs.start(f"run:{self.key}", self._crew.run(run))
        run.task.add_done_callback(lambda _: self._ended(run))
        self._watch(run)

    def _ended(self, run: Run) -> None:
        """The one place where a run ends: done, failed, cancelled, expired, left behind, or never begun."""
        if run.over:
            return
        run.over = True
        if run.timer is not None:
            run.timer.cancel()
            run.timer = None
        if self.run is run:
            self.run = None  # no cycle is left behind: a run is gone when nobody speaks of it any more
        self._slots.release(self.key)
        self.feed(RunEnded(run.start.run))

    def _abort(self, number: int) -> None:
        run = self.run
        if run is None or run.start.run != number or run.over:
            return
        if run.task is None:
            self._ended(run)
        else:
            run.task.cancel()
            asyncio.get_running_loop().call_later(GRACE, self._ended, run)

    def _watch(self, run: Run) -> None:
        loop = asyncio.get_running_loop()
        now = monotonic()
        match examine(Lease(run.start.run, run.started, run.last_seen), self._lease, now):
            case Held(until=until):
                run.timer = loop.call_later(until - now, self._watch, run)
            case Expired(why=why):
                log.warning("%s: the run took too long (%s timeout)", self.key, why)
                self._runs.start(f"expire:{self.key}", self._expire(run))

    async def _expire(self, run: Run) -> None:
        run.expired = True
        if run.task is not None:
            run.task.cancel()
            await self._runs.wait(run.task, GRACE)
        self._ended(run)
        await run.conversation.send(TIMED_OUT)

    # --- what takes time --------------------------------------------------------------------------

    async def _wake(self, ms: int, after: str) -> None:
        await asyncio.sleep(ms / 1000)
        self.feed(Quiet(after))

    async def _offer(self, steer: Steer, asked: tuple[Asked, ...]) -> None:
        run = self.run
        if run is None or run.over or run.start.run != steer.run:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(STEER_PATIENCE):
                if await self._crew.steer(run, asked):
                    self.feed(SteerTaken(steer.run, steer.ids))


class Lanes:
    """The lanes that have something to do or to remember."""

    def __init__(self, crew: Crew, runs: Runs, slots: Slots, lease: LeaseSettings) -> None:
        self._crew = crew
        self._runs = runs
        self._slots = slots
        self._lease = lease
        self._lanes: dict[str, SessionLane] = {}
        self._keys_at: dict[Route, set[str]] = {}

    def arrive(self, key: str, agent: str, settings: QueueSettings, asked: Asked, message: backlog.Message) -> None:
        lane = self._lanes.get(key)
        if lane is None:
            lane = SessionLane(key, agent, settings, self._crew, self._runs, self._slots, self._lease, self._rest)
            self._lanes[key] = lane
        self._keys_at.setdefault(message.route, set()).add(key)
        lane.obey(settings)
        lane.arrive(asked, message)

    def obey(self, key: str, settings: QueueSettings) -> None:
        """Somebody changed how this session queues."""
        if lane := self._lanes.get(key):
            lane.obey(settings)

    def get(self, key: str) -> SessionLane | None:
        return self._lanes.get(key)

    def at(self, route: Route) -> list[SessionLane]:
        """The lanes in which something of this place runs or waits."""
        lanes = (self._lanes.get(key) for key in self._keys_at.get(route, ()))
        return [lane for lane in lanes if lane is not None and lane.is_at(route)]

    async def stop(self, lanes: list[SessionLane]) -> None:
        for lane in lanes:
            await lane.stop()

    async def forget(self, key: str) -> None:
        """The session begins anew: what ran for the old one ends, what waited is dropped, nothing is told of it."""
        if lane := self._lanes.pop(key, None):
            await lane.stop()

    def _rest(self, lane: SessionLane) -> None:
        """A lane with nothing to do and nothing to remember is gone, in the same step."""
        if self._lanes.get(lane.key) is lane:
            del self._lanes[lane.key]
        for route in lane.routes:
            keys = self._keys_at.get(route, set())
            keys.discard(lane.key)
            if not keys:
                self._keys_at.pop(route, None)
