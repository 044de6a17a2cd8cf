"""The contract of a store: verbs are written, values are read (DU-10).

`write` returns when the verbs are durable, not before; if it raises, nothing of them was written. docs/store.md lists
everything that an engine promises; `rejoinder.testing.StoreContract` tests these promises.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeVar, overload

from rejoinder.events import Shard, ShardOwners
from rejoinder.store import verbs
from rejoinder.store.blobs import AddChunk, BeginBlob, BlobReader, DropBlob, EndBlob, NameBlobs
from rejoinder.store.home_requests import (
    AnswerAgent,
    AskHome,
    EndHomeRequest,
    HomeRequest,
    StopWork,
    StoredHomeRequest,
    TellSession,
)
from rejoinder.store.hook_events import (
    ClaimedHookEvent,
    ClaimHookEvent,
    EndHookEvent,
    FreeHookEvents,
    HookQueue,
    PutHookEvents,
    RetryHookEvent,
)
from rejoinder.store.jobs import (
    CreateOwnEvent,
    JobReply,
    JobState,
    PauseJob,
    PutJob,
    RecordJobReply,
    RequestJobRun,
    SkipTick,
    StoredJob,
    Tick,
)
from rejoinder.store.ownership_rows import (
    AnyLease,
    Deployment,
    Lease,
    NamedLease,
    ProcessState,
    Renewal,
)
from rejoinder.store.questions import PutQuestion, StoredQuestion
from rejoinder.store.reading import StoreReader
from rejoinder.store.rooms import OpenLog, PutFact, RecordChanges, RoomReader, scope_of
from rejoinder.store.rows import (
    EVENT_STATES,
    IN_FLIGHT,
    INPUT_STATES,
    LATEST,
    OPEN_PART_STATES,
    PART_STATES,
    TURN_STATES,
    YIELDING,
    AccessRows,
    AgentSession,
    AllowEdit,
    Backlog,
    Busy,
    EventState,
    Health,
    HookEvent,
    InboxEvent,
    IndexedMessage,
    Input,
    InputState,
    LocatedMessage,
    NotBefore,
    OpenTurn,
    Outcome,
    Paired,
    PairingRequest,
    PartIntent,
    PartState,
    PendingWork,
    PlaceFacts,
    Quarantined,
    RecoveryRows,
    RowCounts,
    RunClaim,
    StoredCursor,
    StoredPart,
    StoredSession,
    StoredTurn,
    TraceEntry,
    TranscriptEntry,
    TurnState,
    UnreadableRow,
    Workload,
    said_about,
)
from rejoinder.store.subagents import (
    LogLine,
    PutSubagent,
    StoredSubagent,
    SubagentState,
    WriteOffSubagent,
    log_of,
)
from rejoinder.store.verbs import (
    PART_MOVES,
    Accept,
    AppendTranscript,
    BeginTurn,
    BuryPart,
    ClaimPart,
    ClearBotTurns,
    CloseTurn,
    CountEventAttempts,
    Destination,
    DropInputs,
    DropPart,
    EditAllow,
    EndRun,
    ForgetMessage,
    HoldPart,
    MarkSent,
    MarkUnknown,
    MoveCursor,
    MoveEvent,
    NoteMessages,
    PairSender,
    PlanParts,
    PutAgentSession,
    PutPairingRequest,
    PutSession,
    PutUnderstood,
    QuarantineEvent,
    QuarantineSession,
    QuarantineTurn,
    ReadmitEvent,
    ReadmitTurn,
    ReleaseRun,
    RequestEventRerun,
    RequestTurnRerun,
    ResendPart,
    ResumeTurn,
    Retention,
    RetryPart,
    ReviseInput,
    RouteEvent,
    SettleEvent,
    SteerInputs,
    SummariseInputs,
    Sweep,
    TakeBackEventAttempts,
    Trace,
    Unpair,
    Verb,
    WithdrawParts,
)

MOST_RESUMED: Final = 20
RESUMED_FOR: Final = timedelta(minutes=15)
OPERATOR_VERBS: Final[tuple[type[Verb[object]], ...]] = (*verbs.OPERATOR_VERBS, PauseJob, RequestJobRun, PutFact)
"""The verbs that an operator may write while a gateway runs on the store. Each is one fenced step that claims
nothing."""

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class Store(StoreReader, Protocol):
    """The store that one engine reads and writes; `SharedStore.owned` returns it for its shard."""

    @overload
    async def write(self, verb: Verb[A], /, *, on_result: Callable[[A], None] | None = None) -> A:
        """`on_result` is called with the result as soon as there is one, which may be before it is durable. Anything it
        writes becomes durable with the result, or not at all; if `write` raises, the result was never stored."""
        ...

    @overload
    async def write(
        self, verb: Verb[A], second: Verb[B], /, *, on_result: Callable[[A], None] | None = None
    ) -> tuple[A, B]: ...
    @overload
    async def write(self, verb: Verb[A], second: Verb[B], third: Verb[C], /) -> tuple[A, B, C]: ...
    @overload
    async def write(self, verb: Verb[Any], /, *others: Verb[Any]) -> tuple[Any, ...]: ...

    async def recover(
        self, now: datetime, *, singly: int = MOST_RESUMED, within: timedelta = RESUMED_FOR
    ) -> RecoveryRows:
        """All work that is left in the shard. This is read after a claim."""
        ...

    async def health(self) -> Health:
        """Whether the store can be written to; if the last write failed, this tries again."""
        ...


class SharedStore(Store, Protocol):
    """The store as one process opens it, alone or beside others. Its own writes, such as messages from channels, belong
    to no shard: they are fenced by the state of rows and need no lease.

    Leases are granted by the store's clock (SC-6). A claim, a renewal and a fenced write exclude each other: once a
    claim has returned, no write of an earlier generation is carried out.
    """

    shards: int
    """The number of shards over which the homes are spread; it never changes (SC-2)."""
    lease_seconds: float | None
    """How long a lease is granted. None: until it is released or its holder has ended, which the store itself notices,
    so that there is nothing to renew (SC-5)."""

    async def claim(self, shard: int, holder: str) -> Lease | None:
        """Grants a lease with a new generation, unless somebody else holds one (DU-13). Runs of the last holder have
        then ended, and parts it was sending are `unknown`. If that holder died, its unfinished work becomes suspect
        (DU-2); if it only lost the lease, its attempts are not counted."""
        ...

    async def claim_named(self, name: str, holder: str) -> NamedLease | None:
        """Grants the lease on a task that one process does for all, unless somebody else holds it (SC-10)."""
        ...

    async def renew(self, holder: str, leases: tuple[AnyLease, ...], *, claims: bool = True) -> Renewal:
        """Renews these leases, and reports that the process is alive and whether it claims shards. May be called
        without leases, and in the loop of another thread."""
        ...

    async def release(self, lease: AnyLease) -> None:
        """Gives a lease back; it is no error if it is already lost."""
        ...

    async def leave(self, holder: str) -> None:
        """The process ends: gives back all its leases."""
        ...

    async def owners(self) -> ShardOwners: ...

    async def shards_with_work(self) -> frozenset[int]:
        """The shards in which something waits to be decided, sent or run, whichever process wrote it (SC-12)."""
        ...

    def on_external_change(self, callback: Callable[[frozenset[int]], None]) -> None:
        """Calls `callback` in this loop with the shards to which other processes have written; an empty set means any
        shard. One call may stand for several changes, and occasionally for none.

        If one gateway has the store to itself, the call comes within about a second. If several share it, the call may
        come late or never, so each also has to look by itself.
        """
        ...

    async def tell_live(self, channel: str, said: tuple[str, ...]) -> None:
        """Sends live updates to the other processes (SC-14). They are not stored, belong to no transaction and may be
        lost; a store for one process does nothing."""
        ...

    def on_live(self, callback: Callable[[str, str], None]) -> None:
        """Calls `callback` in this loop with each live update of another process: the channel and the update."""
        ...

    def owned(self, lease: Lease, on_lost: Callable[[], None] = ...) -> Store:
        """The store for the holder of this lease; it reads the work of that shard. If the shard has another generation,
        a write calls `on_lost`, raises `LeaseLost` and writes nothing."""
        ...


class OperatorStore(StoreReader, Protocol):
    """The store as the operator's commands open it, also while a gateway runs: it takes only `OPERATOR_VERBS`."""

    @overload
    async def write(self, verb: Verb[A], /) -> A: ...
    @overload
    async def write(self, verb: Verb[Any], /, *others: Verb[Any]) -> tuple[Any, ...]: ...

    async def gateway(self) -> str | None:
        """The process that runs a gateway on the store now, such as `process 4711`, if any."""
        ...


__all__ = [
    "EVENT_STATES",
    "INPUT_STATES",
    "IN_FLIGHT",
    "LATEST",
    "MOST_RESUMED",
    "OPEN_PART_STATES",
    "OPERATOR_VERBS",
    "PART_MOVES",
    "PART_STATES",
    "RESUMED_FOR",
    "TURN_STATES",
    "YIELDING",
    "Accept",
    "AccessRows",
    "AddChunk",
    "AgentSession",
    "AllowEdit",
    "AnswerAgent",
    "AnyLease",
    "AppendTranscript",
    "AskHome",
    "Backlog",
    "BeginBlob",
    "BeginTurn",
    "BlobReader",
    "BuryPart",
    "Busy",
    "ClaimHookEvent",
    "ClaimPart",
    "ClaimedHookEvent",
    "ClearBotTurns",
    "CloseTurn",
    "CountEventAttempts",
    "CreateOwnEvent",
    "Deployment",
    "Destination",
    "DropBlob",
    "DropInputs",
    "DropPart",
    "EditAllow",
    "EndBlob",
    "EndHomeRequest",
    "EndHookEvent",
    "EndRun",
    "EventState",
    "ForgetMessage",
    "FreeHookEvents",
    "Health",
    "HoldPart",
    "HomeRequest",
    "HookEvent",
    "HookQueue",
    "InboxEvent",
    "IndexedMessage",
    "Input",
    "InputState",
    "JobReply",
    "JobState",
    "Lease",
    "LocatedMessage",
    "LogLine",
    "MarkSent",
    "MarkUnknown",
    "MoveCursor",
    "MoveEvent",
    "NameBlobs",
    "NamedLease",
    "NotBefore",
    "NoteMessages",
    "OpenLog",
    "OpenTurn",
    "OperatorStore",
    "Outcome",
    "PairSender",
    "Paired",
    "PairingRequest",
    "PartIntent",
    "PartState",
    "PauseJob",
    "PendingWork",
    "PlaceFacts",
    "PlanParts",
    "ProcessState",
    "PutAgentSession",
    "PutFact",
    "PutHookEvents",
    "PutJob",
    "PutPairingRequest",
    "PutQuestion",
    "PutSession",
    "PutSubagent",
    "PutUnderstood",
    "QuarantineEvent",
    "QuarantineSession",
    "QuarantineTurn",
    "Quarantined",
    "ReadmitEvent",
    "ReadmitTurn",
    "RecordChanges",
    "RecordJobReply",
    "RecoveryRows",
    "ReleaseRun",
    "Renewal",
    "RequestEventRerun",
    "RequestJobRun",
    "RequestTurnRerun",
    "ResendPart",
    "ResumeTurn",
    "Retention",
    "RetryHookEvent",
    "RetryPart",
    "ReviseInput",
    "RoomReader",
    "RouteEvent",
    "RowCounts",
    "RunClaim",
    "SettleEvent",
    "Shard",
    "ShardOwners",
    "SharedStore",
    "SkipTick",
    "SteerInputs",
    "StopWork",
    "Store",
    "StoreReader",
    "StoredCursor",
    "StoredHomeRequest",
    "StoredJob",
    "StoredPart",
    "StoredQuestion",
    "StoredSession",
    "StoredSubagent",
    "StoredTurn",
    "SubagentState",
    "SummariseInputs",
    "Sweep",
    "TakeBackEventAttempts",
    "TellSession",
    "Tick",
    "Trace",
    "TraceEntry",
    "TranscriptEntry",
    "TurnState",
    "Unpair",
    "UnreadableRow",
    "Verb",
    "WithdrawParts",
    "Workload",
    "WriteOffSubagent",
    "log_of",
    "said_about",
    "scope_of",
]
