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
    """The read-only side of a store, which the command line also opens beside a running gateway."""

    # inbound
    async def cursor(self, channel: str, name: str, account: str = "default") -> str | None: ...

    async def cursors(self, channel: str, prefix: str, account: str = "default") -> dict[str, str]:
        """All cursors whose names have this prefix, by the rest of the name."""
        ...

    async def events_of(self, message: str) -> tuple[InboxEvent, ...]:
        """The events about a platform's message, oldest first."""
        ...

    async def latest_event(self, channel: str | None = None, chat: str | None = None) -> InboxEvent | None:
        """The last message (no tick, no hand-off), of this channel or chat if named, among the latest 10,000 events."""
        ...

    async def undecided_events(self, limit: int = 1000, after: int = 0) -> tuple[InboxEvent, ...]:
        """The undecided events that can be read, oldest first, from the one after `after`. If there are fewer than
        `limit`, these are all."""
        ...

    async def inputs_of(self, event: int) -> tuple[Input, ...]:
        """The inputs of an event, one for each session to which it was routed."""
        ...

    async def trace(self, event: int) -> tuple[TraceEntry, ...]: ...

    # turns
    async def waiting_inputs(self, session: str) -> tuple[Input, ...]:
        """The inputs that wait for a turn, and those that the next turn summarises in a line, in order of arrival."""
        ...

    async def turn(self, turn: int) -> OpenTurn | None:
        """A turn in any state, with its inputs and parts."""
        ...

    async def session_of_turn(self, turn: int) -> str | None:
        """The session of a turn, even if nothing else of the turn can be read."""
        ...

    async def first_turn(self, session: str, route: Route) -> int | None:
        """The earliest turn of this session in this conversation that is still stored."""
        ...

    async def turns_since(self, since: datetime, route: Route, sender: str | None = None) -> int:
        """How many turns were begun in this chat, including its threads; if `sender` is given, only those of that
        person (IN-33)."""
        ...

    # outbound
    async def parts_in(
        self, *states: PartState, limit: int = 1000, latest_first: bool = False
    ) -> tuple[StoredPart, ...]:
        """The parts in these states, such as dead or unconfirmed ones; oldest first unless requested otherwise."""
        ...

    async def count_parts(self, *states: PartState) -> int: ...

    async def part(self, part: int) -> StoredPart | None: ...

    async def part_sent_as(self, route: Route, message: str) -> StoredPart | None:
        """The part that became this message."""
        ...

    async def parts_about(self, event: int) -> tuple[StoredPart, ...]:
        """The gateway's own answers to this event; their keys begin with `said_about(event)`."""
        ...

    async def parts_under(self, stem: str) -> tuple[StoredPart, ...]:
        """All parts whose keys begin with this and a slash, oldest first."""
        ...

    async def routes_to_send(self) -> tuple[Route, ...]:
        """The places with something to send or to settle, the longest waiting first."""
        ...

    # memory
    async def session(self, key: str) -> StoredSession | None: ...

    async def sessions(self, limit: int = 1000) -> tuple[StoredSession, ...]:
        """The sessions, most recently used first."""
        ...

    async def count_sessions(self) -> int: ...

    async def session_keys(self, holding: str, limit: int = 10) -> tuple[str, ...]:
        """The sessions whose key contains this; an exact match is returned alone."""
        ...

    async def pending_work(self) -> dict[str, PendingWork]:
        """What each session still has to do; sessions with nothing to do are left out."""
        ...

    async def agent_session(self, session: str) -> AgentSession | None: ...

    async def transcript(self, session: str, since: datetime, limit: int = 1000) -> tuple[TranscriptEntry, ...]:
        """The latest entries since a session started, in order. A reset deletes nothing; it only moves the start."""
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
        """The latest messages that no turn of this session has received (IN-32)."""
        ...

    async def place(self, route: Route, today: datetime) -> PlaceFacts: ...

    async def pairing_requests(self, channel: str, account: str) -> tuple[PairingRequest, ...]: ...

    async def all_pairing_requests(self) -> tuple[PairingRequest, ...]:
        """The pairing requests of all channels, the longest waiting first."""
        ...

    async def admission(self, channel: str, account: str) -> AccessRows: ...

    async def jobs(self) -> tuple[StoredJob, ...]:
        """The stored state of scheduled jobs, by name."""
        ...

    async def subagents(self, root: str, limit: int = 200) -> tuple[StoredSubagent, ...]:
        """The latest sub-agents of a conversation, the oldest first."""
        ...

    async def subagents_at(self, channel: str, chat: str, limit: int = 20) -> tuple[StoredSubagent, ...]:
        """The sub-agents that work or worked for a chat, including its threads, the latest first."""
        ...

    async def latest_subagents(self, limit: int = 20) -> tuple[StoredSubagent, ...]:
        """The sub-agents of all conversations, the latest first."""
        ...

    async def now(self) -> datetime:
        """The time by the store's clock, which all processes that share the store use (SC-6)."""
        ...

    async def deployment(self) -> Deployment:
        """The live processes on this store, and what they hold."""
        ...

    async def hook_queues(self) -> tuple[HookQueue, ...]:
        """The state of the HTTP hooks that have rows, by name."""
        ...

    async def subagent(self, session: str) -> StoredSubagent | None: ...

    async def open_questions(self) -> tuple[StoredQuestion, ...]:
        """The questions, answered or not, of turns that are not over, in the order in which they were asked."""
        ...

    async def questions_elsewhere(self) -> tuple[StoredQuestion, ...]:
        """The questions that sessions of other shards have asked; none for the whole store."""
        ...

    async def asked_elsewhere(self, ids: Iterable[str]) -> frozenset[str]:
        """Which of these questions, open or not, sessions of other shards have asked; none for the whole store."""
        ...

    async def home_requests(self) -> tuple[StoredHomeRequest, ...]:
        """The requests of others to the sessions of this shard, in their order, without those of another version; none
        for the whole store."""
        ...

    async def sessions_at_work(self, route: Route, *, beside: bool = False) -> tuple[str, ...]:
        """The sessions with an open turn in this place, or with a message from it that waits for one. `beside`: also
        those with a sub-agent that works for it."""
        ...

    async def is_talked_to(self, route: Route) -> bool:
        """Whether a turn that is open or waits in this place is for words that a person wrote."""
        ...

    async def open_subagents(self) -> tuple[StoredSubagent, ...]:
        """The sub-agents at work, and those whose end has not been reported, the oldest first."""
        ...

    async def earlier_job_reply(self, job: str, digest: str) -> JobReply | None:
        """The last reply of this job with this digest, as far back as `RecordJobReply` keeps them (TU-26)."""
        ...

    # the store itself
    async def quarantined(self, limit: int = 1000) -> tuple[Quarantined, ...]:
        """The quarantined rows, the latest first."""
        ...

    async def requested_reruns(self) -> tuple[Quarantined, ...]:
        """The quarantined turns and events that somebody has asked to be run again."""
        ...

    async def workload(self) -> Workload: ...

    async def count_rows(self) -> RowCounts:
        """Counts every row: too slow to call every second."""
        ...

    async def check(self) -> None:
        """Reads every row; raises `StoreUnavailable` if something is damaged."""
        ...

    async def backup(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a consistent copy while everything goes on (DU-14). Its room logs get new ids, so that a reader who
        has seen more than the copy contains starts from the beginning, instead of continuing at a number that means
        something else."""
        ...

    async def close(self) -> None: ...
