"""The read-only side of the contract of a store."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Protocol

from rejoinder.events import Route
from rejoinder.store.blobs import BlobReader
from rejoinder.store.home_requests import StoredHomeRequest
from rejoinder.store.hook_events import HookQueue
from rejoinder.store.jobs import JobReply, StoredJob
from rejoinder.store.ownership_rows import (
    Deployment,
)
from rejoinder.store.questions import StoredQuestion
from rejoinder.store.rooms import RoomReader
from rejoinder.store.rows import (
    AccessRows,
    AgentSession,
    InboxEvent,
    IndexedMessage,
    Input,
    LocatedMessage,
    OpenTurn,
    PairingRequest,
    PartState,
    PendingWork,
    PlaceFacts,
    Quarantined,
    RowCounts,
    StoredPart,
    StoredSession,
    TraceEntry,
    TranscriptEntry,
    Workload,
)
from rejoinder.store.subagents import StoredSubagent


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

    async def undecided_events(self, limit: int = 1000) -> tuple[InboxEvent, ...]:
        """The events that wait for a decision and can be read, oldest first."""
        ...

    async def inputs_of(self, event: int) -> tuple[Input, ...]:
        """What became of an event, in each session it was routed to."""
        ...

    async def trace(self, event: int) -> tuple[TraceEntry, ...]: ...

    # turns
    async def waiting_inputs(self, session: str) -> tuple[Input, ...]:
        """The inputs that wait for a turn, and those the next turn tells of in a line, in order of arrival."""
        ...

    async def turn(self, turn: int) -> OpenTurn | None:
        """A turn in whatever state, with its inputs and parts."""
        ...

    async def session_of_turn(self, turn: int) -> str | None:
        """Also where nothing else of the turn can be read."""
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

    async def routes_to_send(self) -> tuple[Route, ...]:
        """The places with something to send or to settle, the longest waiting first."""
        ...

    # what is remembered
    async def session(self, key: str) -> StoredSession | None: ...

    async def sessions(self, limit: int = 1000) -> tuple[StoredSession, ...]:
        """The latest touched first."""
        ...

    async def count_sessions(self) -> int: ...

    async def session_keys(self, holding: str, limit: int = 10) -> tuple[str, ...]:
        """The sessions whose key contains this; an exact match comes alone."""
        ...

    async def pending_work(self) -> dict[str, PendingWork]:
        """What each session still has to do; sessions with nothing to do are left out."""
        ...

    async def agent_session(self, session: str) -> AgentSession | None: ...

    async def transcript(self, session: str, since: datetime, limit: int = 1000) -> tuple[TranscriptEntry, ...]:
        """The latest entries since a session started, in order. A reset deletes nothing: it moves the start."""
        ...

    async def message(self, route: Route, reference: str) -> IndexedMessage | None:
        """The message of this conversation behind an id or a handle (OD-22)."""
        ...

    async def find_messages(self, reference: str, limit: int = 10) -> tuple[LocatedMessage, ...]:
        """The messages of all conversations behind an id or a handle."""
        ...

    async def messages(self, route: Route, after: int = 0, limit: int = 50) -> tuple[IndexedMessage, ...]:
        """The latest messages numbered above `after`, in order."""
        ...

    async def unheard_messages(self, session: str, route: Route, limit: int = 50) -> tuple[IndexedMessage, ...]:
        """The latest messages that no turn of this session has been told of (IN-32)."""
        ...

    async def place(self, route: Route, today: datetime) -> PlaceFacts: ...

    async def pairing_requests(self, channel: str, account: str) -> tuple[PairingRequest, ...]: ...

    async def all_pairing_requests(self) -> tuple[PairingRequest, ...]:
        """Those of every channel, the longest waiting first."""
        ...

    async def admission(self, channel: str, account: str) -> AccessRows: ...

    async def jobs(self) -> tuple[StoredJob, ...]:
        """What is kept of the jobs of the clock, by name."""
        ...

    async def subagents(self, root: str, limit: int = 200) -> tuple[StoredSubagent, ...]:
        """The latest sub-agents of a conversation, the oldest first."""
        ...

    async def subagents_at(self, channel: str, chat: str, limit: int = 20) -> tuple[StoredSubagent, ...]:
        """Those that work or worked for a chat, its threads included, the latest first."""
        ...

    async def latest_subagents(self, limit: int = 20) -> tuple[StoredSubagent, ...]:
        """Those of every conversation, the latest first."""
        ...

    async def now(self) -> datetime:
        """By the clock of the store, which all who share it go by (SC-6)."""
        ...

    async def deployment(self) -> Deployment:
        """The processes on this store that are alive, and what they hold."""
        ...

    async def hook_queues(self) -> tuple[HookQueue, ...]:
        """How the hooks over HTTP are doing, those with rows, by name."""
        ...

    async def subagent(self, session: str) -> StoredSubagent | None: ...

    async def open_questions(self) -> tuple[StoredQuestion, ...]:
        """What was asked, and perhaps answered, in turns that are not over, in the order in which it was asked."""
        ...

    async def questions_elsewhere(self) -> tuple[StoredQuestion, ...]:
        """Those that sessions of other shards have asked; of the whole store: none."""
        ...

    async def asked_elsewhere(self, ids: Iterable[str]) -> frozenset[str]:
        """Which of these questions, open or not, sessions of other shards have asked; of the whole store: none."""
        ...

    async def home_requests(self) -> tuple[StoredHomeRequest, ...]:
        """What others ask of the sessions of this shard, in their order; of the whole store: nothing."""
        ...

    async def sessions_at_work(self, route: Route, *, beside: bool = False) -> tuple[str, ...]:
        """The sessions with a turn that is open in this place, or a message of it that waits for one. `beside`: also
        those with a sub-agent that works for it."""
        ...

    async def is_talked_to(self, route: Route) -> bool:
        """Whether a turn that is open in this place, or waits there, is for words that somebody wrote."""
        ...

    async def open_subagents(self) -> tuple[StoredSubagent, ...]:
        """Those at work, and those whose end has not been told, the oldest first."""
        ...

    async def earlier_job_reply(self, job: str, digest: str) -> JobReply | None:
        """When this job last said what has this digest, as far back as `RecordJobReply` keeps it (TU-26)."""
        ...

    # the store itself
    async def quarantined(self, limit: int = 1000) -> tuple[Quarantined, ...]:
        """What is left alone, the latest first."""
        ...

    async def requested_reruns(self) -> tuple[Quarantined, ...]:
        """The turns and events in quarantine that somebody wants to be run again."""
        ...

    async def workload(self) -> Workload: ...

    async def count_rows(self) -> RowCounts:
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
