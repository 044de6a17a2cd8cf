"""The possible decisions of a stage, and the run through the stages. Stopping is a value, not an exception."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rejoinder.events import Effect, Inbound, MessageDecided, Step
from rejoinder.session import Session

if TYPE_CHECKING:  # both import modules that return outcomes
    from rejoinder.inbound.message import InboundMessage
    from rejoinder.inbound.rules import Rules


class Continue(Struct, frozen=True):
    """Continues with the next stage, with the changes of this one; replies are sent at once."""

    message: "InboundMessage | None" = None
    session: Session | None = None
    replies: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    stored: dict[str, Any] = {}  # the directives that take effect beyond this turn, by name
    reason: str | None = None


class Answer(Struct, frozen=True):
    """The message is answered without the agent."""

    replies: tuple[str, ...]
    effects: tuple[Effect, ...] = ()
    session: Session | None = None
    stored: dict[str, Any] = {}
    refuses: bool = False  # refuses the whole message and undoes what earlier stages did
    reason: str | None = None


class Drop(Struct, frozen=True):
    """Nothing is said. The reason is for the trace, never for the sender."""

    reason: str
    effects: tuple[Effect, ...] = ()


Outcome = Continue | Answer | Drop
PASS = Continue()

EarlyStage = Callable[["InboundMessage", None, "Rules", datetime], Outcome]
Stage = Callable[["InboundMessage", Session, "Rules", datetime], Outcome]


class StageResult(Struct, frozen=True):
    """How far a message got, and what happened to it. A final outcome of Continue means a turn."""

    message: "InboundMessage"
    session: Session | None
    outcome: Outcome
    replies: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    trace: tuple[Step, ...] = ()
    stored: dict[str, Any] = {}


_DECISIONS: dict[type, str] = {Continue: "continue", Answer: "answer", Drop: "drop"}


def run_stages(
    stages: Sequence[Callable[["InboundMessage", Any, "Rules", datetime], Outcome]],
    message: "InboundMessage",
    session: Session | None,
    rules: "Rules",
    now: datetime,
    tick: Callable[[], float],
    earlier: tuple[Step, ...] = (),
) -> StageResult:
    """Runs the stages in order until one answers or drops. `tick` returns seconds, only for the trace. `earlier`: steps
    done before the stages."""
    found = session
    replies: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    stored: dict[str, Any] = {}
    trace = list(earlier)
    outcome: Outcome = PASS
    began = tick()
    for stage in stages:
        outcome = stage(message, session, rules, now)
        before, began = began, tick()
        if outcome is PASS:  # the most frequent outcome
            trace.append(Step(stage.__name__, "continue", None, began - before))
            continue
        trace.append(Step(stage.__name__, _DECISIONS[type(outcome)], outcome.reason, began - before))
        if isinstance(outcome, Continue):
            message = outcome.message or message
            session = outcome.session or session
            replies += outcome.replies
            effects += outcome.effects
            if outcome.stored:
                stored = {**stored, **outcome.stored}
            continue
        effects += outcome.effects
        if isinstance(outcome, Answer) and outcome.refuses:
            session, replies, effects, stored = found, outcome.replies, (), {}
        elif isinstance(outcome, Answer):
            session = outcome.session or session
            replies += outcome.replies
            stored = {**stored, **outcome.stored}
        break
    return StageResult(message, session, outcome, replies, effects, tuple(trace), stored)


def end_of(decided: StageResult, *, overheard: bool) -> str:
    """The recorded end of a message that gets no turn, for people."""
    outcome = decided.outcome
    how = "overheard" if overheard else "answered" if isinstance(outcome, Answer) else "dropped"
    return f"{how}: {outcome.reason}" if outcome.reason else how


def told_of(inbound: Inbound, decided: StageResult) -> MessageDecided:
    """What hooks are told of the decision."""
    match decided.outcome:
        case Continue():
            outcome = "turn"
        case Answer():
            outcome = "answer"
        case _:
            outcome = "drop"
    return MessageDecided(inbound, outcome, decided.trace)
