"""The contract of a store: verbs are written, values are read (DU-10).

`write` returns when the verbs are durable, not before; if it raises, nothing of them was written.
docs/store.md has all that an engine promises; `rejoinder.testing.StoreContract` is that promise as tests.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, overload

from rejoinder.events import Route
from rejoinder.store import verbs
from rejoinder.store.blobs import AddChunk, BeginBlob, BlobReader, DropBlob, EndBlob, NameBlobs
from rejoinder.store.jobs import (
    JobState,
    KeepJob,
    KeptJob,
    NoteSaid,
    Originate,
    PassTick,
    PauseJob,
    SaidBefore,
    Tick,
    WantJob,
)
from rejoinder.store.rooms import KeepFact, OpenLog, RecordChanges, RoomReader, scope_of
from rejoinder.store.rows import (
    EVENT_STATES,
    IN_FLIGHT,
    INPUT_STATES,
    LATEST,
    PART_STATES,
    TURN_STATES,
    UNENDED,
    YIELDING,
    Admission,
    AllowEdit,
    Backlog,
    Busy,
    Census,
    Cursor,
    Entry,
    EventState,
    Health,
    InboxEvent,
    IndexedMessage,
    Input,
    InputState,
    Intent,
    KeptSession,
    Later,
    Lease,
    Load,
    OpenTurn,
    Outcome,
    Owners,
    Paired,
    PairingRequest,
    PartState,
    Pending,
    PlaceFacts,
    Quarantined,
    Recovery,
    Renewal,
    RunClaim,
    Shard,
    Sighting,
    StoredPart,
    StoredTurn,
    Traced,
    TurnState,
    Unread,
    said_about,
)
from rejoinder.store.subagents import KeptSubagent, PutSubagent, SubagentState
from rejoinder.store.verbs import (
    PART_MOVES,
    Accept,
    AppendTranscript,
    ApprovePairing,
    BeginTurn,
    BuryPart,
    ClaimPart,
    ClearBotTurns,
    Destination,
    DropInputs,
    DropPart,
    EditAllow,
    EndRun,
    ForgetMessage,
    HoldPart,
    KeepPairingRequest,
    KeepUnderstood,
    MarkSent,
    MarkUnknown,
    MoveCursor,
    NoteMessages,
    PlanParts,
    PutSession,
    QuarantineEvent,
    QuarantineSession,
    QuarantineTurn,
    ReadmitEvent,
    ReadmitTurn,
    ReleaseEvents,
    ReleaseRun,
    ResendPart,
    ResumeTurn,
    Retention,
    RetryPart,
    ReviseInput,
    RouteEvent,
    SaveAgentSession,
    SettleEvent,
    SteerInputs,
    SummariseInputs,
    Sweep,
    Trace,
    TryEvents,
    Unpair,
    Verb,
    WantEvent,
    WantTurn,
    WithdrawParts,
)

MOST_RESUMED: Final = 20
RESUMED_FOR: Final = timedelta(minutes=15)
BESIDE: Final[tuple[type[Verb[object]], ...]] = (*verbs.BESIDE, PauseJob, WantJob, KeepFact)
"""What an operator may write while a gateway runs on the store: each is one step, fenced, and claims nothing."""

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class StoreReader(BlobReader, RoomReader, Protocol):
    """The read-only side; also what the command line opens beside a running gateway."""

    # what came in
    async def cursor(self, channel: str, name: str, account: str = "default") -> str | None: ...

    async def cursors(self, channel: str, prefix: str, account: str = "default") -> dict[str, str]:
        """All whose names begin like this, by the rest of the name."""
        ...

    async def events_of(self, message: str) -> tuple[InboxEvent, ...]:
        """The events that tell of a platform's message, oldest first."""
        ...

    async def latest_event(self, channel: str | None = None, chat: str | None = None) -> InboxEvent | None:
        """The last message (no tick, no hand-off), of this channel or chat if named, among the latest 10,000 events."""
        ...

    async def undecided(self, limit: int = 1000) -> tuple[InboxEvent, ...]:
        """The events that wait for a decision and can be read, oldest first."""
        ...

    async def inputs_of(self, event: int) -> tuple[Input, ...]:
        """What became of an event, in each session it was routed to."""
        ...

    async def trace(self, event: int) -> tuple[Traced, ...]: ...

    # turns
    async def waiting(self, session: str) -> tuple[Input, ...]:
        """The inputs that wait for a turn, and those the next turn tells of in a line, in order of arrival."""
        ...

    async def turn(self, turn: int) -> OpenTurn | None:
        """A turn in whatever state, with its inputs and parts."""
        ...

    async def first_turn(self, session: str, route: Route) -> int | None:
        """The earliest turn of this session in this conversation that is still known."""
        ...

    async def turns_since(self, since: datetime, route: Route, sender: str | None = None) -> int:
        """How many turns were begun in this chat, threads included; those of one person if named (IN-33)."""
        ...

    # what goes out
    async def parts_in(
        self, *states: PartState, limit: int = 1000, latest_first: bool = False
    ) -> tuple[StoredPart, ...]:
        """Dead letters, unconfirmed parts and the like, oldest first unless asked otherwise."""
        ...

    async def count_parts(self, *states: PartState) -> int: ...

    async def part(self, part: int) -> StoredPart | None: ...

    async def part_sent_as(self, route: Route, message: str) -> StoredPart | None:
        """What was sent and became this message."""
        ...

    async def parts_about(self, event: int) -> tuple[StoredPart, ...]:
        """What the gateway itself answered to this event: their keys begin with `said_about(event)`."""
        ...

    async def parts_under(self, stem: str) -> tuple[StoredPart, ...]:
        """All parts whose keys begin with this and a slash, oldest first."""
        ...

    async def to_send(self) -> tuple[Route, ...]:
        """The places with something to send or to settle, the longest waiting first."""
        ...

    # what is remembered
    async def session(self, key: str) -> KeptSession | None: ...

    async def sessions(self, limit: int = 1000) -> tuple[KeptSession, ...]:
        """The latest touched first."""
        ...

    async def count_sessions(self) -> int: ...

    async def session_keys(self, holding: str, limit: int = 10) -> tuple[str, ...]:
        """The sessions whose key contains this; an exact match comes alone."""
        ...

    async def pending(self) -> dict[str, Pending]:
        """What each session still has to do; sessions with nothing to do are left out."""
        ...

    async def agent_session(self, session: str) -> str | None: ...

    async def transcript(self, session: str, since: datetime, limit: int = 1000) -> tuple[Entry, ...]:
        """The latest entries since a session started, in order. A reset deletes nothing: it moves the start."""
        ...

    async def message(self, route: Route, reference: str) -> IndexedMessage | None:
        """The message of this conversation behind an id or a handle (OD-22)."""
        ...

    async def sightings(self, reference: str, limit: int = 10) -> tuple[Sighting, ...]:
        """The messages of all conversations behind an id or a handle."""
        ...

    async def messages(self, route: Route, after: int = 0, limit: int = 50) -> tuple[IndexedMessage, ...]:
        """The latest messages numbered above `after`, in order."""
        ...

    async def unheard(self, session: str, route: Route, limit: int = 50) -> tuple[IndexedMessage, ...]:
        """The latest messages that no turn of this session has been told of (IN-32)."""
        ...

    async def place(self, route: Route, today: datetime) -> PlaceFacts: ...

    async def pairing_requests(self, channel: str, account: str) -> tuple[PairingRequest, ...]: ...

    async def all_pairing_requests(self) -> tuple[PairingRequest, ...]:
        """Those of every channel, the longest waiting first."""
        ...

    async def admission(self, channel: str, account: str) -> Admission: ...

    async def jobs(self) -> tuple[KeptJob, ...]:
        """What is kept of the jobs of the clock, by name."""
        ...

    async def subagents(self, root: str, limit: int = 200) -> tuple[KeptSubagent, ...]:
        """The latest sub-agents of a conversation, the oldest first."""
        ...

    async def latest_subagents(self, limit: int = 20) -> tuple[KeptSubagent, ...]:
        """Those of every conversation, the latest first."""
        ...

    async def subagent(self, session: str) -> KeptSubagent | None: ...

    async def open_subagents(self) -> tuple[KeptSubagent, ...]:
        """Those at work, and those whose end has not been told, the oldest first."""
        ...

    async def said_before(self, job: str, digest: str) -> SaidBefore | None:
        """When this job last said what has this digest, as far back as `NoteSaid` keeps it (TU-26)."""
        ...

    # the store itself
    async def quarantined(self, limit: int = 1000) -> tuple[Quarantined, ...]:
        """What is left alone, the latest first."""
        ...

    async def wanted(self) -> tuple[Quarantined, ...]:
        """The turns and events in quarantine that somebody wants to be run again."""
        ...

    async def load(self) -> Load: ...

    async def census(self) -> Census:
        """Counts every row: too slow to call every second."""
        ...

    async def check(self) -> None:
        """Reads every row; raises `StoreUnavailable` when something is damaged."""
        ...

    async def backup(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a consistent copy while everything goes on (DU-14). Its room logs have new ids: who has seen more than
        the copy holds starts from the beginning, instead of going on at a number that means something else."""
        ...

    async def close(self) -> None: ...


class Store(StoreReader, Protocol):
    """What one engine writes and reads. `SharedStore.owned` gives it the store of its shard."""

    @overload
    async def write(self, verb: Verb[A], /, *, known: Callable[[A], None] | None = None) -> A:
        """`known` is called with the result as soon as there is one, which may be before it is durable: what `known`
        writes becomes durable with the result, or not at all. When `write` raises, what `known` was told is void."""
        ...

    @overload
    async def write(
        self, verb: Verb[A], second: Verb[B], /, *, known: Callable[[A], None] | None = None
    ) -> tuple[A, B]: ...
    @overload
    async def write(self, verb: Verb[A], second: Verb[B], third: Verb[C], /) -> tuple[A, B, C]: ...
    @overload
    async def write(self, verb: Verb[Any], /, *others: Verb[Any]) -> tuple[Any, ...]: ...

    async def recover(self, now: datetime, *, singly: int = MOST_RESUMED, within: timedelta = RESUMED_FOR) -> Recovery:
        """All that is to be done in the shard, by its state: after a claim, and whenever something may have come."""
        ...

    async def health(self) -> Health:
        """Whether the store can be written; if the last write failed, finds out by trying."""
        ...

    def on_foreign_change(self, told: Callable[[], None]) -> None:
        """Calls `told` in this loop, within about a second, when another process has written to the store.

        One call may stand for several changes, and now and then for none: it says "look again", not what to find.
        """
        ...


class SharedStore(Store, Protocol):
    """What one process opens, beside others or alone. What it writes itself is fenced by rows and by no lease: what
    channels bring, what belongs to no shard.

    Leases are granted by the clock of the store (SC-6). A claim, a renewal and a fenced write exclude each other: when
    a claim has returned, no write of an earlier generation is carried out any more.
    """

    shards: int
    """In how many shards the homes are spread; it never changes (SC-2)."""
    lease_seconds: float | None
    """For how long a lease is granted. None: until it is released, or its holder has ended, which the store itself
    notices: there is nothing to renew (SC-5)."""

    async def claim(self, shard: int, holder: str) -> Lease | None:
        """Grants a lease unless somebody else holds one, with a new generation (DU-13): runs of the last holder have
        ended, what it was sending is `unknown`. What it left under way when it died is suspected (DU-2); if it is alive
        and has only lost the lease, that was no attempt."""
        ...

    async def renew(self, holder: str, leases: tuple[Lease, ...]) -> Renewal:
        """Also says that the process is alive, with or without leases. May be called in the loop of another thread."""
        ...

    async def release(self, lease: Lease) -> None:
        """Gives a lease back; one that is lost already is no error."""
        ...

    async def leave(self, holder: str) -> None:
        """The process ends: gives back all its leases."""
        ...

    async def owners(self) -> Owners: ...

    def owned(self, lease: Lease, lost: Callable[[], None] = ...) -> Store:
        """The store as the holder of this lease sees it. What is to be done is that of the shard, and a write raises
        `LeaseLost` when the shard has another generation, after calling `lost`: nothing of it was written."""
        ...


class OperatorStore(StoreReader, Protocol):
    """The operator's side, also while a gateway runs on the store: verbs of `BESIDE`, each write one short step."""

    @overload
    async def write(self, verb: Verb[A], /) -> A: ...
    @overload
    async def write(self, verb: Verb[Any], /, *others: Verb[Any]) -> tuple[Any, ...]: ...

    async def gateway(self) -> str | None:
        """The process that runs a gateway on the store now, such as `process 4711`, if any."""
        ...


__all__ = [
    "BESIDE",
    "EVENT_STATES",
    "INPUT_STATES",
    "IN_FLIGHT",
    "LATEST",
    "MOST_RESUMED",
    "PART_MOVES",
    "PART_STATES",
    "RESUMED_FOR",
    "TURN_STATES",
    "UNENDED",
    "YIELDING",
    "Accept",
    "AddChunk",
    "Admission",
    "AllowEdit",
    "AppendTranscript",
    "ApprovePairing",
    "Backlog",
    "BeginBlob",
    "BeginTurn",
    "BlobReader",
    "BuryPart",
    "Busy",
    "Census",
    "ClaimPart",
    "ClearBotTurns",
    "Cursor",
    "Destination",
    "DropBlob",
    "DropInputs",
    "DropPart",
    "EditAllow",
    "EndBlob",
    "EndRun",
    "Entry",
    "EventState",
    "ForgetMessage",
    "Health",
    "HoldPart",
    "InboxEvent",
    "IndexedMessage",
    "Input",
    "InputState",
    "Intent",
    "JobState",
    "KeepFact",
    "KeepJob",
    "KeepPairingRequest",
    "KeepUnderstood",
    "KeptJob",
    "KeptSession",
    "KeptSubagent",
    "Later",
    "Lease",
    "Load",
    "MarkSent",
    "MarkUnknown",
    "MoveCursor",
    "NameBlobs",
    "NoteMessages",
    "NoteSaid",
    "OpenLog",
    "OpenTurn",
    "OperatorStore",
    "Originate",
    "Outcome",
    "Owners",
    "Paired",
    "PairingRequest",
    "PartState",
    "PassTick",
    "PauseJob",
    "Pending",
    "PlaceFacts",
    "PlanParts",
    "PutSession",
    "PutSubagent",
    "QuarantineEvent",
    "QuarantineSession",
    "QuarantineTurn",
    "Quarantined",
    "ReadmitEvent",
    "ReadmitTurn",
    "RecordChanges",
    "Recovery",
    "ReleaseEvents",
    "ReleaseRun",
    "Renewal",
    "ResendPart",
    "ResumeTurn",
    "Retention",
    "RetryPart",
    "ReviseInput",
    "RoomReader",
    "RouteEvent",
    "RunClaim",
    "SaidBefore",
    "SaveAgentSession",
    "SettleEvent",
    "Shard",
    "SharedStore",
    "Sighting",
    "SteerInputs",
    "Store",
    "StoreReader",
    "StoredPart",
    "StoredTurn",
    "SubagentState",
    "SummariseInputs",
    "Sweep",
    "Tick",
    "Trace",
    "Traced",
    "TryEvents",
    "TurnState",
    "Unpair",
    "Unread",
    "Verb",
    "WantEvent",
    "WantJob",
    "WantTurn",
    "WithdrawParts",
    "said_about",
    "scope_of",
]
