"""The contract of a store: verbs are written, values are read (DU-10).

`write` returns when the verbs are durable, not before; what it raises says that nothing of them was written.
An engine keeps the promise of durability.md alone: `rejoinder.testing.StoreContract` is that promise as tests.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, overload

from rejoinder.events import Route
from rejoinder.store.rows import (
    EVENT_STATES,
    IN_FLIGHT,
    INPUT_STATES,
    PART_STATES,
    TURN_STATES,
    UNENDED,
    AllowEdit,
    Backlog,
    Busy,
    Census,
    Cursor,
    Entry,
    EventState,
    Health,
    InboxEvent,
    Input,
    InputState,
    Intent,
    KeptSession,
    Knock,
    Later,
    Message,
    OpenTurn,
    Outcome,
    Paired,
    PartState,
    PlaceFacts,
    Quarantined,
    Recovery,
    Run,
    StoredPart,
    StoredTurn,
    TraceLine,
    TurnState,
)
from rejoinder.store.verbs import (
    MOST_ATTEMPTS,
    PART_MOVES,
    Accept,
    AppendTranscript,
    ApproveKnock,
    BeginTurn,
    BuryPart,
    ClaimPart,
    ClearBotTurns,
    Destination,
    DropInputs,
    EditAllow,
    EndRun,
    ExpireLeases,
    ForgetMessage,
    HoldPart,
    KeepKnock,
    MarkSending,
    MarkSent,
    MarkUnknown,
    MoveCursor,
    NoteMessages,
    PlanParts,
    PutSession,
    ReleaseRun,
    RenewRun,
    ResendPart,
    ResumeTurn,
    Retention,
    RetryPart,
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
    WithdrawParts,
)

MOST_RESUMED: Final = 20
RESUMED_FOR: Final = timedelta(minutes=15)

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class StoreReader(Protocol):
    """The side that changes nothing: also what the command line opens beside a running gateway."""

    # what came in
    async def cursor(self, channel: str, name: str, account: str = "default") -> str | None: ...

    async def events_of(self, message: str) -> tuple[InboxEvent, ...]:
        """The events that tell of a platform's message, oldest first."""
        ...

    async def inputs_of(self, event: int) -> tuple[Input, ...]:
        """What became of an event, in each session it was routed to."""
        ...

    async def trace(self, event: int) -> tuple[TraceLine, ...]: ...

    # turns
    async def waiting(self, session: str) -> tuple[Input, ...]:
        """What waits for a turn, and what the next turn tells of in a line, in order of arrival."""
        ...

    async def turn(self, turn: int) -> OpenTurn | None:
        """A turn in whatever state, with its inputs and parts."""
        ...

    async def turns_since(self, since: datetime, route: Route, sender: str | None = None) -> int:
        """How many turns were begun in this chat, threads included; those of one person if named (IN-33)."""
        ...

    # what goes out
    async def parts_in(self, *states: PartState, limit: int = 1000) -> tuple[StoredPart, ...]:
        """Dead letters, unconfirmed parts and the like, oldest first."""
        ...

    # what is remembered
    async def session(self, key: str) -> KeptSession | None: ...

    async def sessions(self, limit: int = 1000) -> tuple[KeptSession, ...]:
        """The latest touched first."""
        ...

    async def agent_session(self, session: str) -> str | None: ...

    async def transcript(self, session: str, since: datetime, limit: int = 1000) -> tuple[Entry, ...]:
        """The latest entries since a session started, in order. A reset deletes nothing: it starts later."""
        ...

    async def message(self, route: Route, reference: str) -> Message | None:
        """The message of this conversation behind an id or a handle (OD-22)."""
        ...

    async def messages(self, route: Route, after: int = 0, limit: int = 50) -> tuple[Message, ...]:
        """The latest messages numbered above `after`, in order."""
        ...

    async def unheard(self, session: str, route: Route, limit: int = 50) -> tuple[Message, ...]:
        """The latest messages that no turn of this session has been told of (IN-32)."""
        ...

    async def is_own(self, route: Route, message: str) -> bool:
        """Whether we said it, in any thread of this chat (IN-20)."""
        ...

    async def place(self, route: Route, today: datetime) -> PlaceFacts: ...

    async def knocks(self, channel: str, account: str) -> tuple[Knock, ...]: ...

    async def is_paired(self, channel: str, account: str, sender: str) -> bool: ...

    async def paired(self, channel: str) -> tuple[Paired, ...]: ...

    async def allow_edits(self, channel: str) -> tuple[AllowEdit, ...]:
        """In the order in which they were made."""
        ...

    # the store itself
    async def census(self) -> Census: ...

    async def check(self) -> None:
        """Reads every row; raises `StoreUnavailable` when something is damaged."""
        ...

    async def backup(self, path: Path) -> None:
        """Writes a consistent copy, while everything goes on (DU-14)."""
        ...

    async def close(self) -> None: ...


class Store(StoreReader, Protocol):
    generation: int
    """Drawn when the store was opened; everything claimed under a lower one has been taken back."""

    @overload
    async def write(self, verb: Verb[A], /) -> A: ...
    @overload
    async def write(self, verb: Verb[A], second: Verb[B], /) -> tuple[A, B]: ...
    @overload
    async def write(self, verb: Verb[A], second: Verb[B], third: Verb[C], /) -> tuple[A, B, C]: ...
    @overload
    async def write(self, verb: Verb[Any], /, *others: Verb[Any]) -> tuple[Any, ...]: ...

    async def recover(
        self, now: datetime, *, singly: int = MOST_RESUMED, within: timedelta = RESUMED_FOR
    ) -> Recovery: ...

    async def health(self) -> Health:
        """Whether things can be kept, found out by trying when the last try failed."""
        ...


__all__ = [
    "EVENT_STATES",
    "INPUT_STATES",
    "IN_FLIGHT",
    "MOST_ATTEMPTS",
    "MOST_RESUMED",
    "PART_MOVES",
    "PART_STATES",
    "RESUMED_FOR",
    "TURN_STATES",
    "UNENDED",
    "Accept",
    "AllowEdit",
    "AppendTranscript",
    "ApproveKnock",
    "Backlog",
    "BeginTurn",
    "BuryPart",
    "Busy",
    "Census",
    "ClaimPart",
    "ClearBotTurns",
    "Cursor",
    "Destination",
    "DropInputs",
    "EditAllow",
    "EndRun",
    "Entry",
    "EventState",
    "ExpireLeases",
    "ForgetMessage",
    "Health",
    "HoldPart",
    "InboxEvent",
    "Input",
    "InputState",
    "Intent",
    "KeepKnock",
    "KeptSession",
    "Knock",
    "Later",
    "MarkSending",
    "MarkSent",
    "MarkUnknown",
    "Message",
    "MoveCursor",
    "NoteMessages",
    "OpenTurn",
    "Outcome",
    "Paired",
    "PartState",
    "PlaceFacts",
    "PlanParts",
    "PutSession",
    "Quarantined",
    "Recovery",
    "ReleaseRun",
    "RenewRun",
    "ResendPart",
    "ResumeTurn",
    "Retention",
    "RetryPart",
    "RouteEvent",
    "Run",
    "SaveAgentSession",
    "SettleEvent",
    "SteerInputs",
    "Store",
    "StoreReader",
    "StoredPart",
    "StoredTurn",
    "SummariseInputs",
    "Sweep",
    "Trace",
    "TraceLine",
    "TryEvents",
    "TurnState",
    "Unpair",
    "Verb",
    "WithdrawParts",
]
