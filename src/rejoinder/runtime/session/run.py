"""A turn under way: what one run of a lane was asked, what became of it, and how long it may take."""

import asyncio
from time import monotonic
from typing import Protocol

from rejoinder.errors import RejoinderError
from rejoinder.events import PromptPart, TurnEnded, TurnOutcome
from rejoinder.runtime.session.prefixes import Prefix, no_prefix
from rejoinder.runtime.session.turn_inputs import GrantedTurn, ResumedTurn, TurnInput
from rejoinder.store.base import RunClaim, StoredPart
from rejoinder.turns.lane import Lane, may_speak
from rejoinder.turns.run_state import ENDING, OVER, WORKING, EndCause, RunState, advanced, ended_by, recorded
from rejoinder.turns.run_timeout import RunTimeouts, RunTimes
from rejoinder.turns.signals import Event, RunStarted, Start


class LaneOfRun(Protocol):
    """What a run knows of its lane."""

    key: str
    agent: str
    lane: Lane

    def feed(self, event: Event) -> None: ...


class RunTranscript:
    """What the agent was given and what it said, in the pieces in which it came."""

    def __init__(self) -> None:
        self.told: list[tuple[PromptPart, ...]] = []
        self.said: list[str] = []
        self.model: str | None = None  # the model that answers, as reported by the agent


class RunTimer:
    """The time a run may take, with the limits that were in effect when it began."""

    def __init__(self) -> None:
        self.limits = RunTimeouts()
        self.started = self.last_seen = 0.0
        self.asking = False  # the agent waits for a person, so its silence is no sign of trouble

    def begin(self, limits: RunTimeouts) -> None:
        self.limits = limits
        self.started = self.last_seen = monotonic()

    def at(self, run: int, now: float) -> RunTimes:
        return RunTimes(run, self.started, now if self.asking else self.last_seen)


class TurnClaiming:
    """The attempt to claim a turn. Once it is sent it cannot be called off, as the store may have granted it."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self._is_sent = False

    def begin(self, task: asyncio.Task[None]) -> asyncio.Task[None]:
        self.task = task
        return task

    def sends(self) -> None:
        self._is_sent = True

    def pauses(self) -> None:
        """The session is busy, and the claim is tried again later."""
        self._is_sent = False

    def call_off(self) -> asyncio.Task[None] | None:
        """Returns the attempt, if there was one, for the caller to wait for."""
        if self.task is not None and not self._is_sent:
            self.task.cancel()
        return self.task


class Run:
    """One generation of one lane. `granted`: if it was claimed in the commit that decided its message."""

    def __init__(
        self,
        lane: LaneOfRun,
        start: Start,
        inputs: tuple[TurnInput, ...],
        granted: GrantedTurn | None = None,
        resumed: ResumedTurn | None = None,
    ) -> None:
        self.session = lane.key
        self.agent = lane.agent
        self.start = start
        self.inputs = inputs
        self.message = inputs[-1].message  # the one that is answered
        self.trigger = self.message.inbound.message_id
        self.conversation = inputs[-1].conversation  # where it was asked (IN-44)
        self.steered_inputs: tuple[TurnInput, ...] = ()  # what it was steered with
        self.known_inputs = inputs  # every message the agent may know of, including those it was only offered
        self.granted = granted
        self.resumed = resumed
        self.claiming = TurnClaiming()
        self.task: asyncio.Task[None] | None = None
        self.state = RunState()
        self.ended = asyncio.Event()
        self.timer = RunTimer()
        self.transcript = RunTranscript()
        self.prefix: Prefix = no_prefix  # of what the gateway says in its place
        self._lane = lane

    @property
    def claim(self) -> RunClaim:
        """The proof that this run owns the session: everything the run says is planned with it."""
        assert self.granted is not None, "nothing is said before the turn is claimed"
        return self.granted.claim

    def turn_ended(self, turn: int, outcome: TurnOutcome, why: str | None = None) -> TurnEnded:
        """What hooks are told of its end; the same in every place that can end it."""
        also = tuple([each.message.inbound.message_id for each in (*self.inputs[:-1], *self.steered_inputs)])
        return TurnEnded(self.session, self.agent, self.conversation.route, self.trigger, outcome, why, also, turn)

    @property
    def earlier_parts(self) -> tuple[StoredPart, ...]:
        """What an earlier attempt at this turn has already planned or sent."""
        return self.resumed.parts if self.resumed is not None else ()

    @property
    def crashed(self) -> bool:
        """Its work failed with an unexpected exception, and the user has been told nothing about it."""
        ended = (task for task in (self.task, self.claiming.task) if task is not None and task.done())
        failures = (task.exception() for task in ended if not task.cancelled())
        return any(failed is not None and not isinstance(failed, RejoinderError) for failed in failures)

    @property
    def is_gathered(self) -> bool:
        """These messages waited through a restart and share one place in the queue (TU-10)."""
        return len(self.inputs) > len(self.start.ids)

    @property
    def events(self) -> tuple[int, ...]:
        return tuple(each.event for each in self.inputs)

    def may_speak(self) -> bool:
        return self.state.may_speak and may_speak(self._lane.lane, self.start.run)

    def start_work(self, work: asyncio.Task[None], limits: RunTimeouts) -> None:
        """It has a slot."""
        self.state = advanced(self.state, WORKING)
        self.task = work
        self.timer.begin(limits)

    def grant(self, granted: GrantedTurn) -> None:
        self.granted = granted

    def mark_ending(self) -> None:
        self.state = advanced(self.state, ENDING)

    def end_by(self, cause: EndCause) -> None:
        self.state = ended_by(self.state, cause)

    def record_end(self) -> None:
        self.state = recorded(self.state)

    def mark_over(self) -> None:
        self.state = advanced(self.state, OVER)

    def speak_with(self, prefix: Prefix) -> None:
        self.prefix = prefix

    def complete(self, inputs: tuple[TurnInput, ...]) -> None:
        """The same messages, with what was fetched for them."""
        self.inputs = inputs

    def offer(self, inputs: tuple[TurnInput, ...]) -> None:
        """Even if the agent refuses them: it may have used them anyway."""
        self.known_inputs += inputs

    def take_in(self, inputs: tuple[TurnInput, ...]) -> None:
        self.steered_inputs += inputs

    def begun(self, *, can_steer: bool) -> None:
        """The agent has been given the turn."""
        self._lane.feed(RunStarted(self.start.run, can_steer))

    def waits_for_person(self) -> None:
        self.timer.asking = True

    def seen(self) -> None:
        """A sign of life."""
        self.timer.last_seen = monotonic()
        self.timer.asking = False
