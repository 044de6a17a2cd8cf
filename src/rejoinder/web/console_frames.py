"""The frames of `/console/socket`: JSON texts told apart by `type`, one way, from the gateway to the operator.

Rule 1: nothing is kept and nothing is numbered: a console that opens gets the last frames, then the live ones.
Rule 2: an unknown `type` is ignored by the page, so that the server may learn new ones.
"""

import msgspec
from msgspec import Struct

from rejoinder.events import Step, TurnOutcome


class FlowReceived(Struct, frozen=True, tag_field="type", tag="received", omit_defaults=True):
    """A message came in; nothing is decided. `text` is its beginning."""

    at: int
    channel: str
    chat: str
    message: str
    sender: str
    text: str
    entry: str = "text"
    thread: str | None = None


class FlowDecided(Struct, frozen=True, tag_field="type", tag="decided", omit_defaults=True):
    """The stages have decided about it: a turn, an answer, or nothing."""

    at: int
    channel: str
    chat: str
    message: str
    outcome: str
    steps: tuple[Step, ...]
    thread: str | None = None


class FlowTurn(Struct, frozen=True, tag_field="type", tag="turn", omit_defaults=True):
    """An agent is done with it."""

    at: int
    channel: str
    chat: str
    message: str
    session: str
    agent: str
    outcome: TurnOutcome
    why: str | None = None
    took: float | None = None
    """Seconds since the message came."""
    turn: int | None = None
    """What was `sent` with this number is its answer."""


class FlowSent(Struct, frozen=True, tag_field="type", tag="sent", omit_defaults=True):
    """The platform has a message of ours. `text` is its beginning."""

    at: int
    channel: str
    chat: str
    message: str
    text: str
    turn: int | None = None
    """None: the gateway's own words."""


class FlowSession(Struct, frozen=True, tag_field="type", tag="session", omit_defaults=True):
    """A session began or ended."""

    at: int
    session: str
    agent: str
    channel: str
    chat: str
    began: bool
    why: str | None = None


class FlowTick(Struct, frozen=True, tag_field="type", tag="tick", omit_defaults=True):
    """A job of the clock, or a heartbeat, was due. The `turn` of its session that answers no message is its own."""

    at: int
    job: str
    agent: str
    session: str
    why: str | None = None
    """It gets no turn."""


class Gauges(Struct, frozen=True, tag_field="type", tag="gauges"):
    """Each second, the newest point of every chart; `GET /api/series` has the earlier ones."""

    at: int
    received: int
    """Messages that came in during this second."""
    sent: int
    running: int
    """Agents at work now."""
    waiting: int
    """Messages that wait for a turn."""
    outbox: int
    """Parts on their way."""
    dead: int
    unconfirmed: int
    sockets: int
    first_word_ms: float | None
    """Median from a message to the first reply in its place, over the last minute."""
    answered_ms: float | None
    """Median from message to its end of turn, over the last minute."""
    answered_p95_ms: float | None


ToConsole = FlowReceived | FlowDecided | FlowTurn | FlowSent | FlowSession | FlowTick | Gauges

encode = msgspec.json.Encoder().encode
