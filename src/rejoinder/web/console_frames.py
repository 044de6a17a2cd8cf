"""The frames of `/console/socket`: JSON texts distinguished by `type`, only from the gateway to the operator.

Rule 1: frames are neither stored nor numbered: a console that opens gets the latest frames, then the live ones.
Rule 2: the page ignores an unknown `type`, so that the server can add new ones.
"""

import msgspec
from msgspec import Struct

from rejoinder.events import Step, TurnOutcome


class FlowReceived(Struct, frozen=True, tag_field="type", tag="received", omit_defaults=True):
    """A message came in, and is not decided yet. `text` is its beginning."""

    at: int
    channel: str
    chat: str
    message: str
    sender: str
    text: str
    entry: str = "text"
    thread: str | None = None


class FlowDecided(Struct, frozen=True, tag_field="type", tag="decided", omit_defaults=True):
    """The stages have decided what happens with a message: a turn, an answer, or nothing."""

    at: int
    channel: str
    chat: str
    message: str
    outcome: str
    steps: tuple[Step, ...]
    thread: str | None = None


class FlowTurn(Struct, frozen=True, tag_field="type", tag="turn", omit_defaults=True):
    """An agent has finished with a message."""

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
    """The `sent` frames with this number are its answer."""


class FlowSent(Struct, frozen=True, tag_field="type", tag="sent", omit_defaults=True):
    """A platform has accepted a message of ours. `text` is its beginning."""

    at: int
    channel: str
    chat: str
    message: str
    text: str
    turn: int | None = None
    """None: the gateway itself wrote the message."""


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
    """A scheduled job or a heartbeat was due. Its turn is the `turn` of this session that answers no message."""

    at: int
    job: str
    agent: str
    session: str
    why: str | None = None
    """Why it gets no turn; None: it gets one."""


class Gauges(Struct, frozen=True, tag_field="type", tag="gauges"):
    """The newest point of every chart, once a second; `GET /api/series` has the earlier ones."""

    at: int
    received: int
    """Messages that came in during this second."""
    sent: int
    running: int
    """Agents that are working now."""
    waiting: int
    """Messages that wait for a turn."""
    outbox: int
    """Parts that are being sent."""
    dead: int
    unconfirmed: int
    sockets: int
    first_word_ms: float | None
    """Median seconds from a message to the first reply in its place, over the last minute."""
    answered_ms: float | None
    """Median seconds from a message to the end of its turn, over the last minute."""
    answered_p95_ms: float | None


ToConsole = FlowReceived | FlowDecided | FlowTurn | FlowSent | FlowSession | FlowTick | Gauges

encode = msgspec.json.Encoder().encode
