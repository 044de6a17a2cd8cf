"""The values that the store returns: frozen values, one type for each thing it stores.

A claimed value (`RunClaim`, a `StoredPart` in a claim) is also the proof of the claim: the verbs that continue with it
compare its state and generation with the row, and raise `Superseded` if the row has changed since. A generation is a
number that was never used before. Every claim draws one, including the claim of a shard (`Lease`).
"""

from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from rejoinder.errors import Fault
from rejoinder.events import Inbound, PromptPart, Route, Step
from rejoinder.session import Session
from rejoinder.store.ownership_rows import NamedLease

# --- inbound ------------------------------------------------------------------------------------


class StoredCursor(Struct, frozen=True):
    """How far an outside source has been read, such as a Telegram offset, a sync token or the last tick of a job."""

    channel: str
    name: str
    value: str
    account: str = "default"
    lease: NamedLease | None = None
    """The lease of the process that listens; without it nothing is written (SC-10)."""


EventState = Literal["new", "routed", "settled", "quarantined"]

EVENT_STATES: Final[dict[EventState, str]] = {
    "new": "accepted, nothing decided yet",
    "routed": "handed to one or more sessions",
    "settled": "decided without a turn; the reason says how",
    "quarantined": "it killed the process each time, or cannot be read; it is not run",
}


class InboxEvent(Struct, frozen=True):
    """One event of a platform, as it was accepted. Its `id` is its place in the order of arrival."""

    id: int
    inbound: Inbound
    accepted: datetime
    state: EventState = "new"
    reason: str = ""
    attempts: int = 0
    alone: int = 0
    """How often the process died while only this was under way."""
    shard: int = 0
    """The shard of the event; only the holder of the lease on it decides the event."""
    overheard: bool = False
    """Whether it was settled as history, of which the next turn there is told."""


InputState = Literal["waiting", "taken", "steered", "summarised", "dropped"]

INPUT_STATES: Final[dict[InputState, str]] = {
    "waiting": "waits for a turn of its session",
    "taken": "in a turn",
    "steered": "handed to the agent while it ran a turn",
    "summarised": "gets no turn of its own; the next turn has one line about it",
    "dropped": "gets no turn; the reason says why",
}


class Input(Struct, frozen=True):
    """An event in one session to which it was routed. `payload`: what the router stored with it."""

    event: InboxEvent
    session: str
    payload: bytes = b""
    state: InputState = "waiting"
    turn: int | None = None
    reason: str = ""


# --- turns --------------------------------------------------------------------------------------

TurnState = Literal["open", "answered", "closed", "quarantined"]

TURN_STATES: Final[dict[TurnState, str]] = {
    "open": "runs, or has to be run",
    "answered": "the whole answer is planned: the agent is not asked again, what is left is delivered",
    "closed": "over; the outcome says how",
    "quarantined": "it killed the process each time, or cannot be read; it is not run",
}

Outcome = Literal["answered", "silent", "failed", "stopped", "dropped"]


class StoredTurn(Struct, frozen=True):
    """One question to one agent. Its route was fixed when it began (IN-44)."""

    id: int
    session: str
    route: Route
    state: TurnState
    attempts: int
    opened: datetime
    heard: int = 0
    payload: bytes = b""
    outcome: Outcome | None = None
    detail: str = ""
    closed: datetime | None = None
    crashes: int = 0
    """How often the process died while it ran."""
    alone: int = 0
    """How often the process died while only this turn was under way."""


class RunClaim(Struct, frozen=True):
    """The claim on a session. At most one is valid at a time, and only with this generation."""

    session: str
    turn: int
    generation: int
    attempt: int
    answered: bool = False
    """Whether the answer was planned before a crash: then the rest is delivered, and the agent is not asked again."""


class Busy(Struct, frozen=True):
    """The session has an active run: nothing was begun, and waiting messages keep waiting."""

    turn: int


# --- outbound -----------------------------------------------------------------------------------

PartState = Literal["planned", "sending", "sent", "unknown", "retry", "held", "dead", "withdrawn"]

PART_STATES: Final[dict[PartState, str]] = {
    "planned": "committed, not a byte of it sent",
    "sending": "one sender has it, and bytes may be under way",
    "sent": "the platform has it; the receipt says under which id",
    "unknown": "it may or may not have arrived; the parts behind it wait until that is settled",
    "retry": "the platform did not take it; it is tried again at its time",
    "held": "never confirmed, and not sent again unless somebody asks: never a duplicate",
    "dead": "given up; listed, and can be sent again by hand",
    "withdrawn": "cancelled, and never sent",
}

IN_FLIGHT: Final[tuple[PartState, ...]] = ("planned", "sending", "unknown", "retry")
"""The first part of a conversation in one of these states is the one that is sent; the others wait behind it, except
for `YIELDING`."""

YIELDING: Final = "react"
"""The kind of part that all other kinds overtake in a conversation (DE-32). It refers to an existing message and
nothing depends on it, so other parts wait neither for its turn nor for its result. Parts of this kind keep their order
among themselves."""


OPEN_PART_STATES: Final[tuple[PartState, ...]] = (*IN_FLIGHT, "held", "dead")
"""The states in which the gateway or an operator may still have something to do."""


def said_about(event: int) -> str:
    """The key prefix of the gateway's own answers to an event. It is unique, because an event is decided once."""
    return f"event/{event}"


class PartIntent(Struct, frozen=True):
    """A part to be planned. A key stands for the same bytes for ever (DU-4)."""

    key: str
    route: Route
    body: bytes
    kind: str = "text"
    blobs: tuple[str, ...] = ()
    """The ids of the files it names, which are kept as long as the part."""


class StoredPart(Struct, frozen=True):
    id: int
    key: str
    route: Route
    body: bytes
    kind: str
    state: PartState
    generation: int
    attempts: int
    planned: datetime
    turn: int | None = None
    retry_at: datetime | None = None
    receipt: str | None = None
    error: str = ""
    omitted: tuple[str, ...] = ()
    """What earlier attempts left out, such as the formatting."""
    elsewhere: bool = False
    """Whether it was planned for a home with another owner, who sends it (SC-1)."""


class PendingWork(Struct, frozen=True):
    """What a session still has to do."""

    waiting: int = 0
    """Messages without a turn."""
    running: datetime | None = None
    """Since when its turn has been under way."""
    unsent: int = 0
    """Parts that are on their way."""
    stuck: int = 0
    """Parts that are dead or held; only an operator can move them."""


class NotBefore(Struct, frozen=True):
    """The next part of this conversation must not be sent before this time."""

    at: datetime


LATEST: Final = timedelta(minutes=15)
"""A retry that is further ahead than this was set before the clock was set back, so it is due now. The sender enforces
longer limits of the platform until the next start; it counts seconds independently of that clock."""


# --- memory -------------------------------------------------------------------------------------


class StoredSession(Struct, frozen=True):
    """A session, and the version that a change of it has to name."""

    session: Session
    version: int


class AgentSession(Struct, frozen=True):
    """A session as its agent has saved it."""

    id: str
    """The agent's own id of it."""
    machine: str = ""
    """The machine it is on, if it cannot be continued elsewhere (SC-7)."""


class TranscriptEntry(Struct, frozen=True):
    """One side of an exchange, as the agent received or wrote it."""

    role: Literal["user", "agent"]
    parts: tuple[PromptPart, ...]
    at: datetime
    turn: int | None = None
    stands_for_all: bool = False
    """Whether it is a summary, which replaces everything before it for the agent."""


class IndexedMessage(Struct, frozen=True, omit_defaults=True):
    """One message of the index. A message that is not in it cannot be replied to or reacted to (OD-52)."""

    id: str
    author: str
    at: datetime
    kind: Literal["human", "bot", "own", "system"] = "human"
    author_name: str = ""
    text: str = ""
    number: int = 0
    """Its number in the conversation, given by the index."""

    @property
    def handle(self) -> str:
        return f"m{self.number}"


class LocatedMessage(Struct, frozen=True):
    """A message of the index, and its conversation."""

    route: Route
    message: IndexedMessage


class PlaceFacts(Struct, frozen=True):
    """What the message index knows of a conversation (IN-22 to IN-24)."""

    owned: bool = False
    posted: bool = False
    other_bot: bool = False
    bot_turns: int = 0
    bot_turns_today: int = 0
    elsewhere: bool = False
    """Whether its home is in another shard, whose owner sends what is said here (SC-1)."""


class PairingRequest(Struct, frozen=True):
    """A pairing code that waits for an owner."""

    channel: str
    account: str
    sender: str
    code: str
    asked: datetime
    told: datetime
    expires: datetime


class Paired(Struct, frozen=True):
    """A person an owner has let in."""

    channel: str
    account: str
    sender: str


class AllowEdit(Struct, frozen=True):
    """An entry an owner has put on the allow-list of a channel, or taken off it."""

    channel: str
    entry: str
    listed: bool


class AccessRows(Struct, frozen=True):
    """What owners have decided and strangers have requested about access to an account."""

    paired: tuple[Paired, ...]
    """The people paired on any account of the channel."""
    edits: tuple[AllowEdit, ...]
    """The edits of the channel's list, in the order in which they were made."""
    requests: tuple[PairingRequest, ...]


class TraceEntry(Struct, frozen=True):
    """What was recorded about an event at one time, for `explain`."""

    at: datetime
    steps: tuple[Step, ...]


# --- after a restart, and about the store itself ------------------------------------------------


class OpenTurn(Struct, frozen=True):
    """A turn that a crash interrupted, with its inputs and what was already said."""

    turn: StoredTurn
    inputs: tuple[Input, ...]
    parts: tuple[StoredPart, ...]


class Backlog(Struct, frozen=True):
    """The inputs that wait in one session for one place, in order. `gathered` become one turn, with one notice
    (TU-10)."""

    session: str
    route: Route
    gathered: tuple[Input, ...]
    singly: tuple[Input, ...]


class UnreadableRow(Struct, frozen=True):
    """A row that a restart would have resumed if it could be read, with what is known about it anyway."""

    kind: Literal["event", "input", "turn", "subagent"]
    id: int
    """The number of the event or turn; for an input, that of its event; a sub-agent has none."""
    message: str
    """The platform's id of the message; for a turn, of its last input."""
    where: str
    """The channel or the session."""
    why: str
    route: Route | None = None
    """Where the turn is answered."""
    answered: bool = False
    """Whether the turn only had to be delivered."""
    of_another_version: bool = False
    """Whether it is intact, but in a format that is unknown here."""
    root: str = ""
    """For a sub-agent: the session of its conversation."""


class Quarantined(Struct, frozen=True):
    """A quarantined row (DU-2, DU-14): it ended the process each time, or cannot be read."""

    kind: Literal["message", "turn", "session"]
    id: str
    """The platform's id of a message; the number of a turn; the key of a session."""
    where: str
    """The channel or the session."""
    at: datetime
    """When it came, was quarantined, or was last used."""
    why: str = ""
    """Empty for a session, and for rows that an earlier version had tried too often."""
    number: int = 0
    """The number of the event or turn, for taking it out again; 0 if that is impossible."""

    @property
    def reason(self) -> str:
        return self.why or ("it cannot be read" if self.kind == "session" else "it was tried too often")


class RecoveryRows(Struct, frozen=True):
    """Everything that a restart has to resume, oldest first."""

    events: tuple[InboxEvent, ...]
    turns: tuple[OpenTurn, ...]
    backlogs: tuple[Backlog, ...]
    unknown: tuple[StoredPart, ...]
    to_send: tuple[Route, ...]
    unread: tuple[UnreadableRow, ...] = ()
    """Unreadable rows, which are in none of the other fields."""


class Health(Struct, frozen=True):
    """Whether the store can be written now; if not, why and what to do."""

    fault: Fault | None = None
    sentence: str = ""


class Workload(Struct, frozen=True):
    """What is under way now. Reading it is cheap, however many rows have ended."""

    runs: int
    waiting: int
    """Messages without a turn."""
    parts: dict[str, int]
    """How many parts are in each state of `OPEN_PART_STATES`."""
    quarantined: int = 0
    """The number of quarantined messages and turns (DU-2)."""


class RowCounts(Struct, frozen=True):
    """How many rows are in each state."""

    events: dict[str, int]
    inputs: dict[str, int]
    turns: dict[str, int]
    parts: dict[str, int]
    runs: int


class HookEvent(Struct, frozen=True):
    """An event for a hook. `event`: its id, which never changes. `body`: what is posted."""

    hook: str
    event: str
    name: str
    made: datetime
    body: bytes
