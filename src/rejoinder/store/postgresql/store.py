"""Implements the contract over PostgreSQL: the stores for a process beside others, for an operator, and for reading
only."""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import psycopg

from rejoinder.errors import BadConfiguration, BadUse, StoreUnavailable
from rejoinder.store.base import (
    OPERATOR_VERBS,
    AnyLease,
    Health,
    Lease,
    NamedLease,
    Renewal,
    ShardOwners,
    Verb,
)
from rejoinder.store.postgresql.connection import Connection, connect, lock_of
from rejoinder.store.postgresql.faults import address, fault_in
from rejoinder.store.postgresql.listening import ACROSS, NotificationListener, gateways, notify
from rejoinder.store.postgresql.live import LiveNotifier
from rejoinder.store.postgresql.migrate import migrate, refuse_left_behind, refuse_strange
from rejoinder.store.postgresql.pipelined_reader import ON_LOOP, PipelinedReader, ReadInThread
from rejoinder.store.postgresql.writer import Writer
from rejoinder.store.sql import leases
from rejoinder.store.sql.connection import Numbers, SqlConnection
from rejoinder.store.sql.leases import owners, renew
from rejoinder.store.sql.perform import perform
from rejoinder.store.sql.reader import SqlReader, SqlShard
from rejoinder.store.sql.reads import check_bodies
from rejoinder.store.sql.schema import Migration, migrations
from rejoinder.store.sql.upkeep import draw_opening
from rejoinder.store.sql.values import instant
from rejoinder.store.sql.writing import SqlWriting

log = logging.getLogger(__name__)

T = TypeVar("T")

READERS: Final = 4
SHARDS: Final = 64
LEASE: Final = 10.0
TIMELINE: Final = (
    "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END"
)
"""For a standby, which has no clock of its own."""
HEALTH_SECONDS: Final = 2.0
"""Seconds for which `health` waits for a store that had a fault."""


class PostgresReader(SqlReader):
    """Reads in threads of its own, each with its own connection."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._where = address(url)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="rejoinder-store-reader")
        self._own = threading.local()
        self._open: set[Connection] = set()

    async def _read(self, question: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._ask, question, arguments)

    def _ask(self, question: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        with fault_in(self._where):
            fresh = getattr(self._own, "db", None) is None
            try:
                return _in_one_view(self._connected(), question, arguments)
            except psycopg.OperationalError:
                self._let_go()
                if fresh:
                    raise
                return _in_one_view(self._connected(), question, arguments)  # the server had ended the old connection

    def _connected(self) -> Connection:
        db: Connection | None = getattr(self._own, "db", None)
        if db is None:
            db = self._own.db = self._connect()
            self._open.add(db)
        return db

    def _let_go(self) -> None:
        db: Connection | None = getattr(self._own, "db", None)
        if db is not None:
            self._own.db = None
            self._open.discard(db)
            db.close()

    def _connect(self) -> Connection:
        db = connect(self._url, read_only=True)
        try:
            refuse_strange(db, self._where, migrations())
            db.shards = count_shards(db)
        except BaseException:
            db.close()
            raise
        return db

    async def now(self) -> datetime:
        return await self._read(_now)

    async def check(self) -> None:
        await self._read(check_bodies)

    async def backup(self, path: Path, *, overwrite: bool = False) -> None:
        raise BadUse(
            f"a store in PostgreSQL is copied by the database's own tools: pg_dump --format=custom --file={path} "
            f"{self._where}"
        )

    async def close(self) -> None:
        self._threads.shutdown()
        for db in self._open:
            db.close()
        self._open.clear()


class PostgresOperator(PostgresReader):
    """The operator's side: verbs of `OPERATOR_VERBS`, each write one short step."""

    async def write(self, verb: Verb[Any], /, *others: Verb[Any]) -> Any:
        verbs = (verb, *others)
        for each in verbs:
            if type(each) not in OPERATOR_VERBS:
                raise BadUse(f"{type(each).__name__} is the gateway's own; other processes may write only a few verbs")
        results = await asyncio.get_running_loop().run_in_executor(self._threads, self._carry_out, verbs)
        return results if others else results[0]

    async def gateway(self) -> str | None:
        found = await self._read(gateways)
        return ", ".join(f"process {name}" for name in found) or None

    def _carry_out(self, verbs: tuple[Verb[Any], ...]) -> tuple[Any, ...]:
        with fault_in(self._where):
            db = connect(self._url)
            try:
                refuse_strange(db, self._where, migrations())
                db.shards = count_shards(db)
                with db.db.transaction():
                    results = perform(db, verbs)
                notify(db, "operator", range(db.shards))  # the change may be in any of them
                return results
            finally:
                db.close()


class PostgresStore(SqlWriting[Writer], PostgresReader):
    """Implements the whole contract. Leases have a thread and a connection of their own, because they must not wait for
    anything else."""

    def __init__(
        self, url: str, shards: int, lease_seconds: float, listening: NotificationListener, known: int
    ) -> None:
        """`known`: the last step of the schema that this version knows."""
        super().__init__(url)
        self._known = known
        self._left_behind: StoreUnavailable | None = None
        self.shards = shards
        self.lease_seconds: float | None = lease_seconds
        self._seconds = lease_seconds
        self._listening = listening
        self._writer = Writer(self._where, self._connect_writer, self._notify)
        self._pipelined_reader = PipelinedReader(self._connect)
        self._live = LiveNotifier(self._where, partial(connect, url), listening.origin)
        self._leases = ThreadPoolExecutor(1, thread_name_prefix="rejoinder-store-leases")
        self._lease_db: Connection | None = None
        self._held: set[int] = set()
        self._timeline: str | None = None
        self._has_failed_over = False

    def _connect_writer(self) -> Connection:
        db = connect(self._url)
        db.shards = self.shards
        try:
            # A process that has stopped while it holds a shard's lock must not keep others from claiming the shard.
            db.execute(f"SET idle_in_transaction_session_timeout = {round(self._seconds * 500)}")
            with db.db.transaction():
                db.numbers = Numbers(draw_opening(db))
        except BaseException:
            db.close()
            raise
        return db

    def _connect(self) -> Connection:
        db = connect(self._url, read_only=True)  # the schema was checked when the store was opened
        db.shards = self.shards
        return db

    async def _read(self, question: Callable[..., T], *arguments: Any) -> T:
        self._writer.refuse_when_closed()
        if question in ON_LOOP:
            with suppress(ReadInThread):
                return await self._pipelined_reader.ask(question, *arguments)
        return await super()._read(question, *arguments)

    # --- leases -------------------------------------------------------------------------------------

    def owned(self, lease: Lease, on_lost: Callable[[], None] = lambda: None) -> SqlShard:
        return SqlShard(self, self._writer, lease, on_lost)

    async def claim(self, shard: int, holder: str) -> Lease | None:
        lease = await self._granted(partial(_claim, shard=shard, holder=holder, seconds=self._seconds))
        if lease is not None:
            self._held.add(shard)
        return lease

    async def claim_named(self, name: str, holder: str) -> NamedLease | None:
        return await self._granted(partial(_claim_named, name=name, holder=holder, seconds=self._seconds))

    async def renew(self, holder: str, leases: tuple[AnyLease, ...], *, claims: bool = True) -> Renewal:
        def renew(db: Connection) -> Renewal:
            """After a fail-over no lease is kept; all are claimed again (SC-22), because the new primary's rows may be
            older than what was granted."""
            failed_over, self._has_failed_over = self._has_failed_over, False
            kept = () if failed_over else leases
            return _renew(db, holder, kept, self._seconds, claims)

        renewal = await self._granted(renew)
        self._held -= {each.shard for each in leases if isinstance(each, Lease) and each not in renewal.held}
        return renewal

    async def release(self, lease: AnyLease) -> None:
        if isinstance(lease, Lease):
            self._held.discard(lease.shard)
        await self._change(partial(leases.release, lease=lease))

    async def leave(self, holder: str) -> None:
        self._held.clear()
        await self._change(partial(leases.leave, holder=holder))

    async def owners(self) -> ShardOwners:
        return await self._change(_owners)

    async def shards_with_work(self) -> frozenset[int]:
        return await self._read(leases.shards_with_work)

    async def _granted(self, work: Callable[[Connection], T]) -> T:
        """A process whose version is too far behind the schema keeps no leases and gets none (SC-23)."""

        def unless_left_behind(db: Connection) -> T:
            refuse_left_behind(db, self._where, self._known)
            return work(db)

        try:
            return await self._change(unless_left_behind)
        except StoreUnavailable as fault:
            if fault.fault == "newer" and self._left_behind is None:
                self._left_behind = fault
                log.error("%s Until then this process serves nothing.", fault)
            raise

    async def _change(self, work: Callable[[Connection], T]) -> T:
        self._writer.refuse_when_closed()
        return await asyncio.wrap_future(self._leases.submit(self._change_in_thread, work))

    def _change_in_thread(self, work: Callable[[Connection], T]) -> T:
        with fault_in(self._where):
            try:
                if self._lease_db is None:
                    self._lease_db = connect(self._url)
                    self._lease_db.shards = self.shards
                    self._lease_db.execute("SET lock_timeout = '2s'")
                    self._lease_db.execute(f"SET idle_in_transaction_session_timeout = {round(self._seconds * 500)}")
                    self._note_timeline(self._lease_db)
                with self._lease_db.db.transaction():
                    return work(self._lease_db)
            except psycopg.OperationalError:
                self._end_lease_db()
                raise

    def _note_timeline(self, db: Connection) -> None:
        """Notices a fail-over: after a restart a server continues the same timeline, but a former standby begins a new
        one."""
        (timeline,) = db.execute(TIMELINE).fetchone()
        if self._timeline is not None and timeline not in (None, self._timeline):
            log.warning("The database %s has failed over to another server: all leases are claimed again.", self._where)
            self._has_failed_over = True
        self._timeline = timeline or self._timeline

    def _end_lease_db(self) -> None:
        if self._lease_db is not None:
            with suppress(psycopg.Error):
                self._lease_db.close()
        self._lease_db = None

    async def health(self) -> Health:
        try:
            self._writer.refuse_when_closed()
            if self._left_behind is not None:
                raise self._left_behind
            held_up = StoreUnavailable("locked", self._where) if self._writer.is_held_up else None
            if (fault := self._writer.fault or held_up) is not None:
                try:
                    async with asyncio.timeout(HEALTH_SECONDS):
                        await self._writer.touch()
                except TimeoutError:
                    raise fault from None
        except StoreUnavailable as fault:
            return Health(fault.fault, str(fault))
        return Health()

    def on_external_change(self, callback: Callable[[frozenset[int]], None]) -> None:
        self._listening.tell(callback)

    async def tell_live(self, channel: str, said: tuple[str, ...]) -> None:
        await self._live.tell(channel, said)

    def on_live(self, callback: Callable[[str, str], None]) -> None:
        self._listening.tell_live(callback)

    def _notify(self, db: SqlConnection, touched: set[int], crossed: set[int]) -> None:
        if elsewhere := touched - self._held:
            notify(db, self._listening.origin, elsewhere)
        if crossed := crossed & self._held:
            notify(db, ACROSS, crossed)

    async def close(self) -> None:
        await super().close()
        self._listening.end()
        with suppress(StoreUnavailable):  # already closed, or the server is gone
            await self._change(partial(notify, origin=self._listening.farewell, shards=(0,)))
        self._live.close()
        await self._pipelined_reader.close()
        await self._writer.close()
        await self._listening.close()
        self._leases.shutdown()
        self._end_lease_db()


def open_store(
    url: str,
    *,
    shards: int | None = None,
    lease_seconds: float = LEASE,
    schema: Sequence[Migration] | None = None,
) -> PostgresStore:
    """Opens the database of a `postgresql://` address, and brings its schema up to date. `shards`: the number of shards
    if the store is new; it cannot change later."""
    where, steps = address(url), schema or migrations()
    with fault_in(where):
        db = connect(url)
        try:
            migrate(db, where, steps, shards or SHARDS)
            found = count_shards(db)
            if shards not in (None, found):
                hint = f"`rejoinder store rehome --shards {shards}` changes that"
                raise BadConfiguration(f"gateway.shards is {shards}, and the store {where} has {found}: {hint}")
        finally:
            db.close()
    listening = NotificationListener(partial(connect, url))
    listening.wait()
    return PostgresStore(url, found, lease_seconds, listening, steps[-1].number)


def count_shards(db: Connection) -> int:
    return db.execute("SELECT count(*) FROM shard").fetchone()[0]


def _in_one_view(db: Connection, question: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    """Runs the question in one read transaction, so that all its statements see the same state."""
    db.db.execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    try:
        return question(db, *arguments)
    finally:
        if not db.db.closed:
            db.db.execute(b"ROLLBACK")


def _now(db: Connection) -> datetime:
    """The time by the clock of the database, which is used to grant leases (SC-6)."""
    sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS INTEGER)"
    return instant(db.execute(sql).fetchone()[0])


def _claim(db: Connection, shard: int, holder: str, seconds: float) -> Lease | None:
    """Waits for writes that the last holder has under way, so that none of them is carried out after the claim."""
    db.execute("SELECT pg_advisory_xact_lock(?, ?)", lock_of(shard))
    return leases.claim(db, shard, holder, seconds, _now(db))


def _claim_named(db: Connection, name: str, holder: str, seconds: float) -> NamedLease | None:
    return leases.claim_named(db, name, holder, seconds, _now(db))


def _renew(db: Connection, holder: str, leases: tuple[AnyLease, ...], seconds: float, claims: bool) -> Renewal:
    return renew(db, holder, leases, seconds, _now(db), claims=claims)


def _owners(db: Connection) -> ShardOwners:
    return owners(db, _now(db))
