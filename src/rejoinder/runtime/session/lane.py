"""Drives a lane: does what `turns.lane` decides, and reports back the results.

Rule 1: every Start is ended by exactly one RunEnded, however its run ends (run_driver.py).
Rule 2: every Steer is answered, even if the run is over by then; every WakeAfter comes back as DebounceElapsed.
Rule 3: `feed` never awaits, so nothing can interleave with the handling of one event.
"""

import asyncio
import logging
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from rejoinder.crashpoint import crashpoint
from rejoinder.events import Route
from rejoinder.inbound.message import InboundMessage
from rejoinder.runtime.session.payloads import unpack_context
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.run_driver import LaneDeps, RunDriver
from rejoinder.runtime.session.turn_inputs import GrantedTurn, ResumedTurn, TurnInput
from rejoinder.turns import backlog
from rejoinder.turns.lane import Lane, revised, start_of, step, waits
from rejoinder.turns.modes import QueueSettings
from rejoinder.turns.phases import AT_WORK, IDLE, STARTING
from rejoinder.turns.signals import (
    Abort,
    Action,
    DebounceElapsed,
    Discard,
    Event,
    MessageArrived,
    QueueSettingsChanged,
    Reason,
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
from rejoinder.turns.suspicion import AT_ONCE, UNTIL_STABLE, RerunPolicy

log = logging.getLogger(__name__)


class SessionLane(RunDriver):
    def __init__(self, key: str, agent: str, settings: QueueSettings, deps: LaneDeps) -> None:
        self.key = key
        self.routes: set[Route] = set()
        self.agent = agent
        self.lane = Lane(settings)
        self.run: Run | None = None
        self._inputs: dict[str, tuple[TurnInput, ...]] = {}
        self._resumed: ResumedTurn | None = None
        self._granted: GrantedTurn | None = None  # the claim on the turn that the arriving message starts
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._offering: asyncio.Timeout | None = None
        self._deps = deps
        self._tasks = deps.tasks

    @property
    def is_idle(self) -> bool:
        return self.lane.phase is IDLE and not self.lane.after_abort

    @property
    def is_busy(self) -> bool:
        """Whether something runs or waits. A lane that only remembers an aborted run is not busy."""
        return self.lane.phase is not IDLE

    @property
    def is_running(self) -> bool:
        return self.lane.phase in AT_WORK

    @property
    def held_back(self) -> str:
        """Why its turn is not running although nothing in its session prevents it; empty if there is no such reason."""
        resumed = self.run.resumed if self.run is not None and self.run.task is None else None
        return UNTIL_STABLE if resumed is not None and resumed.again is RerunPolicy.WHEN_STABLE else ""

    @property
    def waiting(self) -> int:
        return len(self.lane.waiting)

    def is_at(self, route: Route) -> bool:
        """Whether a message of this place runs or waits here. A message whose thread is not open yet also belongs to
        its chat, because people can stop it only there."""
        return any(
            each.conversation.route == route
            or (each.conversation.opening is not None and each.message.inbound.own_route == route)
            for each in self._at_hand
        )

    def waiting_input(self, event: int) -> TurnInput | None:
        """The message of this event, if it is waiting and was not gathered with others."""
        alone = (group[0] for id, group in self._inputs.items() if len(group) == 1 and waits(self.lane, id))
        return next((each for each in alone if each.event == event), None)

    def revise(self, turn_input: TurnInput, message: InboundMessage | None) -> None:
        """The sender has edited or deleted a message that is waiting (CH-8)."""
        if not waits(self.lane, turn_input.id):
            return  # its turn has begun meanwhile
        self.lane = revised(self.lane, turn_input.id, None if message is None else message.agent_text)
        if message is not None:
            self._inputs[turn_input.id] = (replace(turn_input, message=message),)
            return
        del self._inputs[turn_input.id]
        if turn_input.signs is not None:
            turn_input.signs.ended(ok=False)
        if self.is_idle:
            self._deps.rest(self)

    @property
    def is_talked_to(self) -> bool:
        """Whether a message of a person runs or waits here, not just the turn of a job."""
        return any(not each.message.background for each in self._at_hand)

    @property
    def _at_hand(self) -> Iterator[TurnInput]:
        """The messages that are running or waiting."""
        if self.run is not None and self.is_running:
            yield from self.run.inputs
        for group in self._inputs.values():
            yield from group

    def has_from_before(self, event: int | None) -> bool:
        """Whether something that is running or waiting here came before this event."""
        return event is None or any(each.event < event for each in self._at_hand)

    def start_of(self, message: backlog.QueuedMessage, settings: QueueSettings) -> Start | None:
        """The turn this message would start at once; None if it would have to wait."""
        return start_of(replace(self.lane, settings=settings), message)

    def arrive(
        self, inputs: tuple[TurnInput, ...], message: backlog.QueuedMessage, granted: GrantedTurn | None = None
    ) -> None:
        """`inputs` is usually one message; those gathered after a restart are queued as one."""
        self._inputs[message.id] = inputs
        self.routes.add(message.route)
        self._granted = granted
        self.feed(MessageArrived(message))
        for each in inputs:
            if each.signs is not None and self._waits(message.id, each):
                each.signs.became(State.QUEUED)

    def _waits(self, id: str, turn_input: TurnInput) -> bool:
        """Whether the message is in the queue, or its run has no slot yet."""
        in_line = id in self._inputs
        return in_line or (self.run is not None and self.run.task is None and turn_input in self.run.inputs)

    def resume(
        self, inputs: tuple[TurnInput, ...], messages: tuple[backlog.QueuedMessage, ...], resumed: ResumedTurn
    ) -> None:
        """Resumes a turn that another process began; the lane must have nothing else to do yet."""
        context = unpack_context(resumed.turn.payload)
        start = Start(1, tuple(m.id for m in messages), context.overflow, context.passed_over, context.after_abort)
        self._inputs |= {each.id: (each,) for each in inputs}
        self.routes |= {message.route for message in messages}
        self._resumed = resumed
        self.lane = replace(self.lane, phase=STARTING, run=start.run, turn=messages)
        self._perform(start)

    def remember(self, summarised: tuple[backlog.QueuedMessage, ...]) -> None:
        """Restores messages that were left out before a restart; the next turn summarises each in one line."""
        overflow = self.lane.overflow.telling(summarised, at_most=self.lane.settings.cap)
        self.lane = replace(self.lane, overflow=overflow)

    def apply_settings(self, settings: QueueSettings) -> None:
        if settings != self.lane.settings:
            self.feed(QueueSettingsChanged(settings))

    def stop(self, before: int | None = None) -> Run | None:
        """Returns the run that was stopped, if any; `ended` is set when it has ended or has been left behind. `before`:
        messages that came after this event stay in the queue."""
        run, came = self.run, self._inputs.items()
        later = () if before is None else tuple([id for id, each in came if all(one.event >= before for one in each)])
        self.feed(Stop(later))
        return run

    def feed(self, event: Event) -> None:
        self.lane, actions = step(self.lane, event)
        for action in actions:
            self._perform(action)
        if self.lane.phase is IDLE and not self.lane.after_abort:
            self._deps.rest(self)

    def _perform(self, action: Action) -> None:
        match action:
            case Start():
                if self._deps.is_draining():
                    return  # waiting messages are stored, and the next process runs them
                self.run = run = Run(self, action, self._take(action.ids), self._granted, self._resumed)
                self._granted = self._resumed = None
                crashpoint("K7")
                again = AT_ONCE if run.resumed is None else run.resumed.again
                self._deps.slots.ask(self.key, self.agent, partial(self._go, run), again)
            case Steer(ids=ids):
                inputs = tuple(each for id in ids for each in self._inputs[id])
                # The offer is always answered, whatever happens to it; a second answer is harmless.
                refused = SteerRefused(action.run, ids)
                self._tasks.start(f"steer:{self.key}", self._offer(action, inputs), then=lambda: self.feed(refused))
            case Steered(ids=ids):
                self._taken_in(self._take(ids))
            case Abort(run=number):
                self._abort(number)
            case WakeAfter(ms=ms, after=after):
                self._timers[after] = self._tasks.start(f"quiet:{self.key}", self._wake(ms, after))
                crashpoint("K6")
            case Summarise(ids=ids):
                self._tasks.start(f"tell:{self.key}", self._leave_out(self._take(ids), None))
            case Discard(ids=ids, reason=reason):
                self._tasks.start(f"tell:{self.key}", self._leave_out(self._take(ids), reason))

    def _take(self, ids: tuple[str, ...]) -> tuple[TurnInput, ...]:
        taken: tuple[TurnInput, ...] = ()
        for id in ids:
            taken += self._inputs.pop(id)
            if timer := self._timers.pop(id, None):
                timer.cancel()  # a message that has left the queue no longer waits for quiet
        return taken

    def _taken_in(self, inputs: tuple[TurnInput, ...]) -> None:
        """These messages end with the run that took them in; if it is already over, they have been answered."""
        if self.run is not None:
            self.run.take_in(inputs)
            return
        for each in inputs:
            if each.signs is not None:
                each.signs.ended(ok=True)

    # --- asynchronous work ------------------------------------------------------------------------

    async def _wake(self, ms: int, after: str) -> None:
        await asyncio.sleep(ms / 1000)
        self.feed(DebounceElapsed(after))

    async def _offer(self, steer: Steer, inputs: tuple[TurnInput, ...]) -> None:
        run = self.run
        if run is None or run.state.is_over or run.start.run != steer.run:
            return
        taken = False
        self._offering = offering = asyncio.timeout(None)
        try:
            async with offering:
                taken = await self._deps.runner.steer(run, inputs)
        except TimeoutError:
            log.warning("%s: the agent did not say whether it received a message", self.key)
        finally:
            if self._offering is offering:
                self._offering = None
        if taken:
            await self._deps.journal.record_steered(run, inputs)
            self.feed(SteerTaken(steer.run, steer.ids))

    async def _leave_out(self, inputs: tuple[TurnInput, ...], reason: Reason | None) -> None:
        dropped = await self._deps.journal.leave_out(self.key, self.agent, inputs, reason)
        await self._deps.runner.inputs_left_out(inputs, reason, dropped)
