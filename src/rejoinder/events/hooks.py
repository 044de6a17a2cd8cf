"""What happened to a message (IN-64), and what hooks are told (IN-8)."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events.inbound import Inbound, Route
from rejoinder.events.vocabulary import ResetCause, TurnOutcome


class Step(Struct, frozen=True, omit_defaults=True):
    """One step in the trace of a message: the decision of a stage, or the result of an agent or a directive."""

    stage: str
    decision: str
    reason: str | None = None
    took: float = 0.0
    """Seconds."""
    agent: str = ""
    """The agent whose turn ended with this step."""


class MessageReceived(Struct, frozen=True):
    """A new message came; nothing has been decided about it yet."""

    message: Inbound


class MessageDecided(Struct, frozen=True):
    """The stages have decided about a message, and the decision is stored: a turn, an answer, or nothing."""

    message: Inbound
    outcome: Literal["turn", "answer", "drop"]
    stages: tuple[Step, ...]


class SessionStarted(Struct, frozen=True):
    session: str
    agent: str
    route: Route
    at: datetime | None = None


class SessionEnded(Struct, frozen=True):
    session: str
    agent: str
    route: Route
    why: ResetCause
    at: datetime | None = None


class TurnEnded(Struct, frozen=True):
    """An agent's turn is over. `message` is the one it answers; `why` says what went wrong."""

    session: str
    agent: str
    route: Route
    message: str
    outcome: TurnOutcome
    why: str | None = None
    also: tuple[str, ...] = ()
    """The other messages of the same turn."""
    turn: int | None = None


class ReplyStarted(Struct, frozen=True):
    """People see the first words of an answer that is still being written."""

    route: Route
    turn: int | None = None


class ReplySent(Struct, frozen=True):
    """The platform accepted a complete message of ours, an agent's or the gateway's own."""

    route: Route
    message: str
    text: str
    turn: int | None = None
    """The agent's turn that said it; None for the gateway's own words."""


class JobTicked(Struct, frozen=True):
    """A scheduled job or a heartbeat was due, or was started by hand. `why`: the reason if it gets no turn."""

    job: str
    agent: str
    session: str
    why: str | None = None


class DeliveryFailed(Struct, frozen=True):
    """The gateway has given up sending a message, which can be sent again by hand (DE-33)."""

    route: Route
    key: str
    text: str
    why: str
