"""The verbs, by which the gateway writes to the store. Each is a frozen value, carried out by `Store.write`.

Verbs written together happen together or not at all: `write(PlanParts(...), EndRun(...))` is one transaction, so no
crash can come between them. Every transition is fenced: by the state of its row, and in the store of a shard
(`SharedStore.owned`) by the lease on it. A verb whose fence does not hold raises `Superseded`, and nothing of its write
is stored. A verb that may find its claim taken (`BeginTurn`, `ResumeTurn`, `ClaimPart`) reports that in its result.
"""

from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from msgspec import Struct

from rejoinder.events import Inbound, Route, Step
from rejoinder.session import Session
from rejoinder.store.rows import (
    AgentSession,
    AllowEdit,
    Busy,
    HookEvent,
    InboxEvent,
    IndexedMessage,
    NotBefore,
    Outcome,
    Paired,
    PairingRequest,
    PartIntent,
    PartState,
    RunClaim,
    StoredCursor,
    StoredPart,
    TranscriptEntry,
)

Result = TypeVar("Result", covariant=True)


class Verb(Struct, Generic[Result], frozen=True):
    """Something to be written, and the type of its result."""


# --- inbound ------------------------------------------------------------------------------------


class Accept(Verb[tuple[InboxEvent, ...]], frozen=True):
    """Stores the events that a platform delivered, each once, and how far it was read. Returns the new events
    (DU-1)."""

    events: tuple[Inbound, ...]
    now: datetime
    cursor: StoredCursor | None = None
    places: tuple[StoredCursor, ...] = ()
    """How far single places were read, if the platform has a position for each."""
    homes: tuple[str, ...] = ()
    """The home of each event's session, whose owner decides the event. A place keeps the home of its first event
    (SC-1). If it is empty, the home of the chat counts; a new chat is its own home."""
    tells: tuple[tuple[HookEvent, ...], ...] = ()
    """What hooks are told of each event, if it is new (IN-8)."""


class MoveCursor(Verb[None], frozen=True):
    cursor: StoredCursor


class MoveEvent(Verb[None], frozen=True):
    """Moves an undecided event to this home, whose owner decides it."""

    event: int
    home: str


class CountEventAttempts(Verb[None], frozen=True):
    """Counts an attempt before events are handled again: if the process dies before they are decided, they are
    suspected of having caused it."""

    events: tuple[int, ...]


class TakeBackEventAttempts(Verb[None], frozen=True):
    """Takes back an attempt of events that are not decided yet, because the gateway is shutting down cleanly."""

    events: tuple[int, ...]


class Destination(Struct, frozen=True):
    """A session that an event goes to, with what the router needs to know when its turn comes."""

    session: str
    payload: bytes = b""


class RouteEvent(Verb[None], frozen=True):
    """The event is decided, and from now on waits in each of these sessions. A session in which it begins a turn in the
    same write is not among them (`BeginTurn.brings`)."""

    event: int
    to: tuple[Destination, ...]


class PutUnderstood(Verb[None], frozen=True):
    """Stores the transcripts and pages of an event that is not decided yet, so that they are fetched only once."""

    event: int
    inbound: Inbound


class QuarantineEvent(Verb[None], frozen=True):
    """The event cannot be decided: it is quarantined, with the reason, until an operator releases it."""

    event: int
    reason: str


class RequestEventRerun(Verb[None], frozen=True):
    """An operator wants this quarantined event handled again; the gateway does so as soon as it looks."""

    event: int


class ReadmitEvent(Verb[InboxEvent], frozen=True):
    """Takes an event out of quarantine, to be decided as if it had just come."""

    event: int


class SettleEvent(Verb[None], frozen=True):
    """The event gets no turn: answered without the agent, overheard, or dropped."""

    event: int
    reason: str
    overheard: bool = False
    """Whether no agent was asked, so that the next turn here is told of the message (IN-32)."""


class DropInputs(Verb[None], frozen=True):
    """These waiting events get no turn; `reason` says why."""

    session: str
    events: tuple[int, ...]
    reason: str


class ReviseInput(Verb[None], frozen=True):
    """A waiting event has a new text, because its sender edited it (CH-8)."""

    session: str
    event: int
    payload: bytes


class SummariseInputs(Verb[None], frozen=True):
    """These waiting events get no turn of their own; the next turn summarises them."""

    session: str
    events: tuple[int, ...]


# --- turns --------------------------------------------------------------------------------------


class BeginTurn(Verb[RunClaim | Busy], frozen=True):
    """Takes waiting events into a new turn and claims the session; the attempt is counted before it is made."""

    session: str
    route: Route
    events: tuple[int, ...]
    now: datetime
    heard: int = 0
    """The number of the last message of this place that the agent receives; the next turn continues after it."""
    payload: bytes = b""
    tells: bool = True
    """Whether this turn tells the agent the summaries; if not, a later one does."""
    brings: bytes | None = None
    """The payload of its only event, if that enters the session just now: the turn takes it at once, or it waits if the
    session is busy. None if its events already wait in the session."""


class ResumeTurn(Verb[RunClaim | Busy], frozen=True):
    """Claims the session for a turn that was left open. If the turn is already answered, no attempt is counted."""

    turn: int


class CloseTurn(Verb[None], frozen=True):
    """Ends a turn that was left open and that nobody has claimed, without running it. Another turn of its session may
    run."""

    turn: int
    outcome: Outcome
    now: datetime
    detail: str = ""


class QuarantineTurn(Verb[None], frozen=True):
    """Quarantines a turn that was left open and that nobody has claimed, until an operator releases it (DU-2)."""

    turn: int
    now: datetime
    why: str


class RequestTurnRerun(Verb[None], frozen=True):
    """An operator wants this quarantined turn run again; the gateway does so as soon as it looks."""

    turn: int


class ReadmitTurn(Verb[tuple[int, ...]], frozen=True):
    """Ends a quarantined turn: its messages wait for a new turn in their session. Returns their events."""

    turn: int
    now: datetime


class SteerInputs(Verb[None], frozen=True):
    """The running agent has taken in these events."""

    run: RunClaim
    events: tuple[int, ...]


class EndRun(Verb[None], frozen=True):
    """The turn is over and the session is free."""

    run: RunClaim
    outcome: Outcome
    now: datetime
    detail: str = ""


class ReleaseRun(Verb[None], frozen=True):
    """Frees the session because the gateway is shutting down cleanly: the turn stays open, and no attempt is
    counted."""

    run: RunClaim


# --- outbound -----------------------------------------------------------------------------------


class PlanParts(Verb[tuple[StoredPart, ...]], frozen=True):
    """Commits what is to be said before its first byte is sent. A key that was planned before returns its known part.

    `final`: the answer is complete, so after a crash the agent is not asked again. `claims`: claims the first part in
    the same step, if nothing waits before it and its place is in the writer's shard.
    """

    parts: tuple[PartIntent, ...]
    now: datetime
    run: RunClaim | None = None
    final: bool = False
    claims: bool = False


class ClaimPart(Verb[StoredPart | NotBefore | None], frozen=True):
    """Claims the next part of a conversation for one sender. The attempt is counted before it is made.

    Returns None if there is no part, if it is not settled yet, or if the place is not in the writer's shard."""

    route: Route
    now: datetime


class MarkSent(Verb[IndexedMessage | None], frozen=True):
    """The platform has accepted the part. With a receipt it becomes a message of the index, with a handle."""

    part: StoredPart
    receipt: str | None
    at: datetime
    text: str = ""
    author: str = ""
    place: Route | None = None
    """Where the message is, if not where it was sent (CH-2); it enters the index there."""
    had_files: bool = False
    """Whether the part has files, which are no longer needed."""


class MarkUnknown(Verb[StoredPart], frozen=True):
    part: StoredPart
    error: str


class RetryPart(Verb[StoredPart], frozen=True):
    """The platform did not accept the part: it is tried again at that time. A rate limit is no attempt (DE-32)."""

    part: StoredPart
    at: datetime
    error: str
    counted: bool = True
    omitted: tuple[str, ...] = ()
    """What all attempts so far left out, such as the formatting; the next one leaves it out too."""


class HoldPart(Verb[StoredPart], frozen=True):
    part: StoredPart


class ResendPart(Verb[StoredPart], frozen=True):
    """Sends the same bytes under the same key once more."""

    part: StoredPart


class BuryPart(Verb[StoredPart], frozen=True):
    part: StoredPart
    error: str


class DropPart(Verb[StoredPart], frozen=True):
    """Cancels a held or dead part, which is then never sent (DE-33)."""

    part: StoredPart


class WithdrawParts(Verb[int], frozen=True):
    """Withdraws the unsent parts of this turn (IN-70). Returns how many they were."""

    turn: int


PART_MOVES: Final[dict[type[Verb[object]], tuple[tuple[PartState, ...], PartState]]] = {
    ClaimPart: (("planned", "retry"), "sending"),
    MarkSent: (("sending", "unknown", "held"), "sent"),
    MarkUnknown: (("sending",), "unknown"),
    RetryPart: (("sending", "unknown"), "retry"),
    HoldPart: (("unknown",), "held"),
    ResendPart: (("unknown", "held", "dead"), "planned"),
    BuryPart: (("sending", "unknown", "held"), "dead"),
    DropPart: (("held", "dead"), "withdrawn"),
    WithdrawParts: (("planned", "retry"), "withdrawn"),
}
"""From which states a verb may move a part, and to which one. The engine and the docs read it from here."""


# --- memory -------------------------------------------------------------------------------------


class PutSession(Verb[int], frozen=True):
    """Replaces the version of a session that was read (0: there was none). Returns the new version."""

    session: Session
    version: int


class QuarantineSession(Verb[None], frozen=True):
    """Moves a session that cannot be read out of the way of a new one under its key, and keeps it (`Quarantined`)."""

    session: str
    now: datetime


class PutAgentSession(Verb[None], frozen=True):
    """The agent's own id of a session, with which it continues after a restart; None forgets it."""

    session: str
    saved: AgentSession | None


class AppendTranscript(Verb[None], frozen=True):
    """Adds the question and answer of a turn once: if the last entry is of the same turn, nothing is added."""

    session: str
    entries: tuple[TranscriptEntry, ...]


class NoteMessages(Verb[tuple[IndexedMessage, ...]], frozen=True):
    """Puts messages into the index and returns them with their numbers; a known one keeps its own."""

    route: Route
    messages: tuple[IndexedMessage, ...]


class ForgetMessage(Verb[None], frozen=True):
    """The message was deleted: no directive can refer to it, and its handle is never used again."""

    route: Route
    message: str


class ClearBotTurns(Verb[None], frozen=True):
    """Resets the count of bot turns here, because an owner lets the bots continue (IN-23)."""

    route: Route


class Trace(Verb[None], frozen=True):
    event: int
    at: datetime
    steps: tuple[Step, ...]


class PutPairingRequest(Verb[None], frozen=True):
    """A stranger was given a pairing code, one for each stranger. Raises `Superseded` if the account has too many
    pending requests, whichever process accepted them (SC-16)."""

    request: PairingRequest
    most: int | None = None


class PairSender(Verb[PairingRequest | None], frozen=True):
    """Pairs the stranger with this code, if it is still valid."""

    code: str
    now: datetime


class Unpair(Verb[None], frozen=True):
    """Takes back a pairing."""

    paired: Paired


class EditAllow(Verb[None], frozen=True):
    """An owner's edit of the allow-list, which applies until the same entry is edited again."""

    edit: AllowEdit


# --- the store itself ---------------------------------------------------------------------------


class Retention(Struct, frozen=True):
    """How long rows are kept, and how many rows of a kind one sweep removes at most."""

    ended_before: datetime
    """Removes older settled events with their traces, and closed turns with their parts. It must be at least 30 days
    ago (DU-1)."""
    messages: int = 10_000
    """The most messages of one conversation in the index."""
    rows: int = 100
    """This is low, because no write is possible while they are removed."""
    unnamed: timedelta = timedelta(days=1)
    """How long a blob is kept after the last row that named it is gone."""
    unfinished: timedelta = timedelta(hours=1)
    """How long an incomplete blob is kept after its last chunk."""


class Sweep(Verb[int], frozen=True):
    """Removes a bounded number of old rows; call it again until it returns 0 (DU-14)."""

    keep: Retention
    now: datetime


OPERATOR_VERBS: Final[tuple[type[Verb[object]], ...]] = (
    PlanParts,
    ResendPart,
    DropPart,
    PairSender,
    RequestEventRerun,
    RequestTurnRerun,
)
"""The verbs above that an operator may write beside a gateway; `base` adds those of the jobs."""
