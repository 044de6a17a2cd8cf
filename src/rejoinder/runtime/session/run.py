"""A turn under way: its messages, its state, and how long it may take."""

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
    """A run's view of its lane."""

    key: str
    agent: str
    lane: Lane

    def feed(self, event: Event) -> None: ...


class RunTranscript:
    """What the agent received and what it said, in the pieces in which it came."""

    def __init__(self) -> None:
        self.told: list[tuple[PromptPart, ...]] = []
        self.said: list[str] = []
        self.model: str | None = None  # the answering model, as reported by the agent


class RunTimer:
    """The time a run may take, with the limits that were in effect when it began."""

    def __init__(self) -> None:
        self.limits = RunTimeouts()
        self.started = self.last_seen = 0.0
        self.asking = False  # whether the agent waits for a person, so that its silence is no sign of trouble

    def begin(self, limits: RunTimeouts) -> None:
        self.limits = limits
        self.started = self.last_seen = monotonic()

    def at(self, run: int, now: float) -> RunTimes:
        return RunTimes(run, self.started, now if self.asking else self.last_seen)


class TurnClaiming:
    """The attempt to claim a turn. Once the claim is sent it cannot be called off, because the store may have granted
    it."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self._is_sent = False

    def begin(self, task: asyncio.Task[None]) -> asyncio.Task[None]:
        self.task = task
        return task

    def sends(self) -> None:
        self._is_sent = True

    def pauses(self) -> None:
        """The session is busy; the claim will be tried again later."""
        self._is_sent = False

    def call_off(self) -> asyncio.Task[None] | None:
        """Calls off the attempt and returns it, if there was one, so that the caller can wait for its end."""
        if self.task is not None and not self._is_sent:
            self.task.cancel()
        return self.task


class Run:
    """One generation of one lane. `granted`: the claim, if it was made in the commit that decided its message."""

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
        self.message = inputs[-1].message  # the message that is answered
        self.trigger = self.message.inbound.message_id
        self.conversation = inputs[-1].conversation  # where that message was said (IN-44)
        self.steered_inputs: tuple[TurnInput, ...] = ()  # messages that the running turn took in
        self.known_inputs = inputs  # all messages the agent may know, including those it was only offered
        self.granted = granted
        self.resumed = resumed
        self.claiming = TurnClaiming()
        self.task: asyncio.Task[None] | None = None
        self.state = RunState()
        self.ended = asyncio.Event()
        self.timer = RunTimer()
        self.transcript = RunTranscript()
        self.prefix: Prefix = no_prefix  # the prefix of what the gateway says instead of the agent
        self._lane = lane

    @property
    def claim(self) -> RunClaim:
        """The proof that this run owns the session. Everything the run says is planned with it."""
        assert self.granted is not None, "nothing is said before the turn is claimed"
        return self.granted.claim

    def turn_ended(self, turn: int, outcome: TurnOutcome, why: str | None = None) -> TurnEnded:
        """What hooks are told about its end, the same from all places that can end it."""
        also = tuple([each.message.inbound.message_id for each in (*self.inputs[:-1], *self.steered_inputs)])
        return TurnEnded(self.session, self.agent, self.conversation.route, self.trigger, outcome, why, also, turn)

    @property
    def earlier_parts(self) -> tuple[StoredPart, ...]:
        """What an earlier attempt at this turn has already planned or sent."""
        return self.resumed.parts if self.resumed is not None else ()

    @property
    def crashed(self) -> bool:
        """Whether its work failed with an unexpected exception that the user has not been told about."""
        ended = (task for task in (self.task, self.claiming.task) if task is not None and task.done())
        failures = (task.exception() for task in ended if not task.cancelled())
        return any(failed is not None and not isinstance(failed, RejoinderError) for failed in failures)

    @property
    def is_gathered(self) -> bool:
        """Whether these messages waited through a restart and share one place in the queue (TU-10)."""
        return len(self.inputs) > len(self.start.ids)

    @property
    def events(self) -> tuple[int, ...]:
        return tuple(each.event for each in self.inputs)

    def may_speak(self) -> bool:
        return self.state.may_speak and may_speak(self._lane.lane, self.start.run)

    def start_work(self, work: asyncio.Task[None], limits: RunTimeouts) -> None:
        """The run has got a slot and begins its work."""
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
        """Replaces the messages by the same ones with their fetched files."""
        self.inputs = inputs

    def offer(self, inputs: tuple[TurnInput, ...]) -> None:
        """Notes messages offered to the agent. Even if it refuses them, it may have used them."""
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
