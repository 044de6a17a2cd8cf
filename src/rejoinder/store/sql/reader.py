"""The reads of the contract over any connection, and the store for the holder of a lease."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rejoinder.blobs import Blob
from rejoinder.errors import LeaseLost
from rejoinder.events import Route
from rejoinder.room_log import Find, LogState, Overview, Replies, RoomEntries, RoomEntry, RoomEvent, RoomRow
from rejoinder.store.base import (
    MOST_RESUMED,
    RESUMED_FOR,
    AccessRows,
    AgentSession,
    Deployment,
    Health,
    HookQueue,
    InboxEvent,
    IndexedMessage,
    Input,
    JobReply,
    Lease,
    LocatedMessage,
    OpenTurn,
    PairingRequest,
    PartState,
    PendingWork,
    PlaceFacts,
    Quarantined,
    RecoveryRows,
    RowCounts,
    StoredHomeRequest,
    StoredJob,
    StoredPart,
    StoredQuestion,
    StoredSession,
    StoredSubagent,
    TraceEntry,
    TranscriptEntry,
    Verb,
    Workload,
)
from rejoinder.store.sql import (
    blobs,
    home_requests,
    hook_events,
    jobs,
    leases,
    lookups,
    questions,
    reads,
    rooms,
    subagents,
)
from rejoinder.store.sql.recover import recover

T = TypeVar("T")

Verbs = tuple[Verb[Any], ...]
OnResult = Callable[[Any], None]

SHORT = frozenset(
    {
        reads.place,
        reads.messages,
        reads.unheard_messages,
        reads.admission,
        reads.session,
        rooms.log_state,
        rooms.log_mark,
        rooms.log_room,
        rooms.log_entry,
        rooms.log_entry_under,
        rooms.fact,
        blobs.blob,
    }
)
"""Reads for each message, of a few rows by key; engines have a faster way for them than for other reads."""


class SqlReader:
    """The reads. Each is a function of a connection, and an engine says how to run it."""

    async def _read(self, question: Callable[..., T], *arguments: Any) -> T:
        raise NotImplementedError

    async def cursor(self, channel: str, name: str, account: str = "default") -> str | None:
        return await self._read(reads.cursor, channel, name, account)

    async def cursors(self, channel: str, prefix: str, account: str = "default") -> dict[str, str]:
        return await self._read(reads.cursors, channel, prefix, account)

    async def events_of(self, message: str) -> tuple[InboxEvent, ...]:
        return await self._read(reads.events_of, message)

    async def latest_event(self, channel: str | None = None, chat: str | None = None) -> InboxEvent | None:
        return await self._read(lookups.latest_event, channel, chat)

    async def undecided_events(self, limit: int = 1000, after: int = 0) -> tuple[InboxEvent, ...]:
        return await self._read(reads.undecided_events, limit, after)

    async def inputs_of(self, event: int) -> tuple[Input, ...]:
        return await self._read(reads.inputs_of, event)

    async def trace(self, event: int) -> tuple[TraceEntry, ...]:
        return await self._read(reads.trace, event)

    async def waiting_inputs(self, session: str) -> tuple[Input, ...]:
        return await self._read(reads.waiting_inputs, session)

    async def turn(self, turn: int) -> OpenTurn | None:
        return await self._read(reads.turn, turn)

    async def session_of_turn(self, turn: int) -> str | None:
        return await self._read(lookups.session_of_turn, turn)

    async def first_turn(self, session: str, route: Route) -> int | None:
        return await self._read(reads.first_turn, session, route)

    async def turns_since(self, since: datetime, route: Route, sender: str | None = None) -> int:
        return await self._read(reads.turns_since, since, route, sender)

    async def parts_in(
        self, *states: PartState, limit: int = 1000, latest_first: bool = False
    ) -> tuple[StoredPart, ...]:
        return await self._read(reads.parts_in, states, limit, latest_first)

    async def count_parts(self, *states: PartState) -> int:
        return await self._read(reads.count_parts, states)

    async def part(self, part: int) -> StoredPart | None:
        return await self._read(lookups.part, part)

    async def part_sent_as(self, route: Route, message: str) -> StoredPart | None:
        return await self._read(lookups.part_sent_as, route, message)

    async def parts_about(self, event: int) -> tuple[StoredPart, ...]:
        return await self._read(lookups.parts_about, event)

    async def parts_under(self, stem: str) -> tuple[StoredPart, ...]:
        return await self._read(lookups.parts_under, stem)

    async def routes_to_send(self) -> tuple[Route, ...]:
        return await self._read(reads.routes_to_send)

    async def session(self, key: str) -> StoredSession | None:
        return await self._read(reads.session, key)

    async def sessions(self, limit: int = 1000) -> tuple[StoredSession, ...]:
        return await self._read(reads.sessions, limit)

    async def count_sessions(self) -> int:
        return await self._read(lookups.count_sessions)

    async def session_keys(self, holding: str, limit: int = 10) -> tuple[str, ...]:
        return await self._read(lookups.session_keys, holding, limit)

    async def pending_work(self) -> dict[str, PendingWork]:
        return await self._read(lookups.pending_work)

    async def agent_session(self, session: str) -> AgentSession | None:
        return await self._read(reads.agent_session, session)

    async def transcript(self, session: str, since: datetime, limit: int = 1000) -> tuple[TranscriptEntry, ...]:
        return await self._read(reads.transcript, session, since, limit)

    async def message(self, route: Route, reference: str) -> IndexedMessage | None:
        return await self._read(reads.message, route, reference)

    async def find_messages(self, reference: str, limit: int = 10) -> tuple[LocatedMessage, ...]:
        return await self._read(lookups.find_messages, reference, limit)

    async def messages(self, route: Route, after: int = 0, limit: int = 50) -> tuple[IndexedMessage, ...]:
        return await self._read(reads.messages, route, after, limit)

    async def unheard_messages(self, session: str, route: Route, limit: int = 50) -> tuple[IndexedMessage, ...]:
        return await self._read(reads.unheard_messages, session, route, limit)

    async def place(self, route: Route, today: datetime) -> PlaceFacts:
        return await self._read(reads.place, route, today)

    async def pairing_requests(self, channel: str, account: str) -> tuple[PairingRequest, ...]:
        return await self._read(reads.pairing_requests, channel, account)

    async def all_pairing_requests(self) -> tuple[PairingRequest, ...]:
        return await self._read(lookups.all_pairing_requests)

    async def admission(self, channel: str, account: str) -> AccessRows:
        return await self._read(reads.admission, channel, account)

    async def jobs(self) -> tuple[StoredJob, ...]:
        return await self._read(jobs.jobs)

    async def subagents(self, root: str, limit: int = 200) -> tuple[StoredSubagent, ...]:
        return await self._read(subagents.subagents, root, limit)

    async def subagents_at(self, channel: str, chat: str, limit: int = 20) -> tuple[StoredSubagent, ...]:
        return await self._read(subagents.subagents_at, channel, chat, limit)

    async def latest_subagents(self, limit: int = 20) -> tuple[StoredSubagent, ...]:
        return await self._read(subagents.latest_subagents, limit)

    async def now(self) -> datetime:
        return datetime.now(UTC)

    async def deployment(self) -> Deployment:
        return await self._read(leases.deployment, await self.now())

    async def hook_queues(self) -> tuple[HookQueue, ...]:
        return await self._read(hook_events.hook_queues)

    async def subagent(self, session: str) -> StoredSubagent | None:
        return await self._read(subagents.subagent, session)

    async def open_subagents(self) -> tuple[StoredSubagent, ...]:
        return await self._read(subagents.open_subagents)

    async def open_questions(self) -> tuple[StoredQuestion, ...]:
        return await self._read(questions.open_questions)

    async def questions_elsewhere(self) -> tuple[StoredQuestion, ...]:
        return ()

    async def asked_elsewhere(self, ids: Iterable[str]) -> frozenset[str]:
        return frozenset()

    async def home_requests(self) -> tuple[StoredHomeRequest, ...]:
        return ()

    async def sessions_at_work(self, route: Route, *, beside: bool = False) -> tuple[str, ...]:
        return await self._read(lookups.sessions_at_work, route, beside)

    async def is_talked_to(self, route: Route) -> bool:
        return await self._read(lookups.is_talked_to, route)

    async def earlier_job_reply(self, job: str, digest: str) -> JobReply | None:
        return await self._read(jobs.earlier_job_reply, job, digest)

    async def quarantined(self, limit: int = 1000) -> tuple[Quarantined, ...]:
        return await self._read(lookups.quarantined, limit)

    async def requested_reruns(self) -> tuple[Quarantined, ...]:
        return await self._read(lookups.requested_reruns)

    async def blob(self, id: str) -> Blob | None:
        return await self._read(blobs.blob, id)

    async def blob_under(self, key: str) -> Blob | None:
        return await self._read(blobs.blob_under, key)

    async def chunk(self, blob: str, number: int) -> bytes | None:
        return await self._read(blobs.chunk, blob, number)

    async def logs(self) -> tuple[str, ...]:
        return await self._read(rooms.logs)

    async def log_state(self, log: str) -> LogState | None:
        return await self._read(rooms.log_state, log)

    async def log_room(self, log: str, id: str) -> RoomRow | None:
        return await self._read(rooms.log_room, log, id)

    async def log_entry(self, log: str, id: str) -> RoomEntry | None:
        return await self._read(rooms.log_entry, log, id)

    async def log_entry_under(self, log: str, key: str) -> RoomEntry | None:
        return await self._read(rooms.log_entry_under, log, key)

    async def log_growing(self, log: str) -> tuple[RoomEntry, ...]:
        return await self._read(rooms.log_growing, log)

    async def log_find(self, log: str, wanted: Find) -> RoomEntries:
        return await self._read(rooms.log_find, log, wanted)

    async def log_replies(self, log: str, threads: tuple[str, ...], person: str) -> dict[str, Replies]:
        return await self._read(rooms.log_replies, log, threads, person)

    async def log_overview(self, log: str, person: str, since: int | None, most: int) -> Overview:
        return await self._read(rooms.log_overview, log, person, since, most)

    async def log_events(self, log: str, after: int, most: int) -> tuple[RoomEvent, ...]:
        return await self._read(rooms.log_events, log, after, most)

    async def log_mark(self, log: str, person: str, room: str) -> int:
        return await self._read(rooms.log_mark, log, person, room)

    async def fact(self, scope: str, key: str) -> bytes | None:
        return await self._read(rooms.fact, scope, key)

    async def facts(self, scope: str) -> dict[str, bytes]:
        return await self._read(rooms.facts, scope)

    async def workload(self) -> Workload:
        return await self._read(reads.workload)

    async def count_rows(self) -> RowCounts:
        return await self._read(reads.count_rows)


class VerbWriter(Protocol):
    """The writer of an engine."""

    def write(
        self, verbs: Verbs, on_result: OnResult | None = None, lease: Lease | None = None
    ) -> Awaitable[tuple[Any, ...]]:
        """`on_result` is told the result of the first verb. `lease`: without it nothing is written."""
        ...


class SqlStore(Protocol):
    """What the store of a shard needs from the whole store."""

    async def ask(self, question: Callable[..., T], *arguments: Any) -> T: ...

    async def health(self) -> Health: ...

    async def check(self) -> None: ...

    async def backup(self, path: Path, *, overwrite: bool = False) -> None: ...


class SqlShard(SqlReader):
    """The store for the holder of a lease. It has no connection of its own, and nothing to close."""

    def __init__(self, store: SqlStore, writer: VerbWriter, lease: Lease, lost: Callable[[], None]) -> None:
        # without `super().__init__`: everything is shared with the store
        self._store = store
        self._writer = writer
        self._lease = lease
        self._lost = lost

    async def write(self, verb: Verb[Any], /, *others: Verb[Any], on_result: OnResult | None = None) -> Any:
        try:
            results = await self._writer.write((verb, *others), on_result, self._lease)
        except LeaseLost:
            self._lost()
            raise
        return results if others else results[0]

    async def _read(self, question: Callable[..., T], *arguments: Any) -> T:
        return await self._store.ask(question, *arguments)

    async def recover(
        self, now: datetime, *, singly: int = MOST_RESUMED, within: timedelta = RESUMED_FOR
    ) -> RecoveryRows:
        return await self._read(recover, now, singly, within, self._lease.shard)

    async def undecided_events(self, limit: int = 1000, after: int = 0) -> tuple[InboxEvent, ...]:
        return await self._read(reads.undecided_events, limit, after, self._lease.shard)

    async def routes_to_send(self) -> tuple[Route, ...]:
        return await self._read(reads.routes_to_send, self._lease.shard)

    async def place(self, route: Route, today: datetime) -> PlaceFacts:
        return await self._read(reads.place, route, today, self._lease.shard)

    async def open_subagents(self) -> tuple[StoredSubagent, ...]:
        return await self._read(subagents.open_subagents, self._lease.shard)

    async def open_questions(self) -> tuple[StoredQuestion, ...]:
        return await self._read(questions.open_questions, self._lease.shard)

    async def questions_elsewhere(self) -> tuple[StoredQuestion, ...]:
        return await self._read(questions.questions_elsewhere, self._lease.shard)

    async def asked_elsewhere(self, ids: Iterable[str]) -> frozenset[str]:
        return await self._read(questions.asked_elsewhere, tuple(ids), self._lease.shard)

    async def home_requests(self) -> tuple[StoredHomeRequest, ...]:
        return await self._read(home_requests.home_requests, self._lease.shard)

    async def requested_reruns(self) -> tuple[Quarantined, ...]:
        return await self._read(lookups.requested_reruns, self._lease.shard)

    async def log_growing(self, log: str) -> tuple[RoomEntry, ...]:
        return await self._read(rooms.log_growing, log, self._lease.shard)

    async def health(self) -> Health:
        return await self._store.health()

    async def check(self) -> None:
        await self._store.check()

    async def backup(self, path: Path, *, overwrite: bool = False) -> None:
        await self._store.backup(path, overwrite=overwrite)

    async def close(self) -> None: ...
