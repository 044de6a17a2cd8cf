"""The embedded engine: one SQLite file, one writer, readers beside it.

Opening (DU-13): lock, check, migrate, rehearse. From then on only this process claims shards and writes the file,
except for short single steps of an operator (operator.py). Any process may read it: `open_reader` needs no lock.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rejoinder.errors import BadUse, StoreUnavailable, Unreadable
from rejoinder.store.base import (
    AnyLease,
    Health,
    Lease,
    NamedLease,
    Renewal,
    ShardOwners,
)
from rejoinder.store.sql import leases
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sql.leases import renew
from rejoinder.store.sql.reader import SHORT, SqlReader, SqlShard
from rejoinder.store.sql.reads import check_bodies
from rejoinder.store.sql.writing import SqlWriting
from rejoinder.store.sqlite.address import MEMORY, existing, path_of
from rejoinder.store.sqlite.connect import backup, checked, connect, free_space
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.faults import fault_in
from rejoinder.store.sqlite.lock import Lock
from rejoinder.store.sqlite.migrate import Migration, migrate, migrations, refuse_strange
from rejoinder.store.sqlite.page_log import import_page_log
from rejoinder.store.sqlite.rehearsal import rehearse, rehearse_reading
from rejoinder.store.sqlite.writer import PendingWrite, Writer

T = TypeVar("T")

READERS = 2
HEALTH_SECONDS = 1.0
"""Seconds for which `health` waits for a store that had a fault."""

ROOM = 512 << 10
"""A disk that was full is tried again once it has this many free bytes; a smaller probe may fit where a message does
not."""


def utc_now() -> datetime:
    return datetime.now(UTC)


class SqliteReader(SqlReader):
    """Reads in threads of its own, each with its own connection."""

    def __init__(self, path: str, patience: float) -> None:
        self._path = path
        self._patience = patience
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="rejoinder-store-reader")
        self._own = threading.local()
        self._open: set[Connection] = set()

    async def _read(self, question: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._ask, question, arguments)

    def _ask(self, question: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        db: Connection | None = getattr(self._own, "db", None)
        try:
            with fault_in(self._path):
                if db is None:
                    db = self._own.db = self._connect()
                    self._open.add(db)
                return _in_one_view(db, question, arguments)
        except StoreUnavailable:
            if db is not None:  # the error may be in its cache
                self._own.db = None
                self._open.discard(db)
                db.close()
            raise

    def _connect(self) -> Connection:
        db = connect(self._path, self._patience, read_only=True)
        try:
            refuse_strange(db, self._path, migrations())
        except BaseException:
            db.close()
            raise
        return db

    async def close(self) -> None:
        self._threads.shutdown()
        for db in self._open:
            db.close()
        self._open.clear()

    # --- the store itself ---------------------------------------------------------------------------

    async def check(self) -> None:
        await self._read(check)

    async def backup(self, path: Path, *, overwrite: bool = False) -> None:
        await self._read(backup, path, overwrite)


class SqliteStore(SqlWriting[Writer], SqliteReader):
    """Implements the whole contract. In memory there is one connection, and no thread beside the loop."""

    def __init__(
        self,
        path: str,
        patience: float,
        db: Connection,
        lock: Lock | None,
        fast_reader: Connection | None,
        lease_seconds: float | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__(path, patience)
        self._fast_reader = fast_reader
        self.shards = db.shards
        self.lease_seconds = lease_seconds
        self._clock = clock
        self._lock = lock
        self._in_memory = lock is None
        self._misread = False
        self._db = db  # for reads in memory, where it is the only connection and nothing has to wait
        if lock is None:
            self._writer = Writer(db, path, patience, None)
        else:
            again = partial(_again, path, patience, db)
            self._writer = Writer(db, path, patience, again, lock.is_in_place)

    # --- leases -------------------------------------------------------------------------------------

    def owned(self, lease: Lease, on_lost: Callable[[], None] = lambda: None) -> SqlShard:
        return SqlShard(self, self._writer, lease, on_lost)

    async def claim(self, shard: int, holder: str) -> Lease | None:
        when = {"seconds": self.lease_seconds, "at": self._clock()}
        return await self._change(partial(leases.claim, shard=shard, holder=holder, **when))

    async def claim_named(self, name: str, holder: str) -> NamedLease | None:
        when = {"seconds": self.lease_seconds, "at": self._clock()}
        return await self._change(partial(leases.claim_named, name=name, holder=holder, **when))

    async def renew(self, holder: str, leases: tuple[AnyLease, ...], *, claims: bool = True) -> Renewal:
        when = {"seconds": self.lease_seconds, "at": self._clock()}
        work = partial(renew, holder=holder, leases=leases, claims=claims, **when)
        home = self._writer.loop
        if home is None or home is asyncio.get_running_loop():
            return await self._change(work)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._change(work), home))

    async def release(self, lease: AnyLease) -> None:
        await self._change(partial(leases.release, lease=lease))

    async def leave(self, holder: str) -> None:
        await self._change(partial(leases.leave, holder=holder))

    async def owners(self) -> ShardOwners:
        return await self._read(leases.owners, self._clock())

    async def now(self) -> datetime:
        return self._clock()

    async def shards_with_work(self) -> frozenset[int]:
        return await self._read(leases.shards_with_work)

    async def tell_live(self, channel: str, said: tuple[str, ...]) -> None:
        """Does nothing: there are no other processes."""

    def on_live(self, callback: Callable[[str, str], None]) -> None:
        """Nobody tells anything."""

    async def _change(self, work: Callable[[Connection], T]) -> T:
        return await self._writer.submit(PendingWrite((), work))

    async def health(self) -> Health:
        try:
            self._writer.refuse_when_closed()
            held_up = StoreUnavailable("locked", self._path) if self._writer.is_held_up else None
            if (fault := self._writer.fault or held_up) is not None:
                if fault.fault == "full" and free_space(self._path) < ROOM:
                    raise fault
                try:
                    async with asyncio.timeout(HEALTH_SECONDS):
                        await self._writer.submit(PendingWrite((), _touch))
                except TimeoutError:  # another program still holds it
                    raise fault from None
            if self._misread:
                await self.check()
                self._misread = False
        except StoreUnavailable as fault:
            return Health(fault.fault, str(fault))
        return Health()

    def on_external_change(self, callback: Callable[[frozenset[int]], None]) -> None:
        self._writer.on_external_change(lambda: callback(frozenset()))

    def _connect(self) -> Connection:
        return connect(self._path, self._patience, read_only=True)  # the schema was checked when the store was opened

    async def _read(self, question: Callable[..., T], *arguments: Any) -> T:
        self._writer.refuse_when_closed()
        if self._in_memory:
            await asyncio.sleep(0)  # lets other tasks run if the caller reads in a loop, as with a file
            self._writer.finish()
            return question(self._db, *arguments)
        if self._fast_reader is not None and question in SHORT:
            try:
                return _in_one_view(self._fast_reader, question, arguments)
            except Unreadable:
                raise
            except Exception:  # noqa: BLE001 - whatever it is, the thread meets it too, and says it
                self._stop_fast_reader()
        try:
            return await super()._read(question, *arguments)
        except StoreUnavailable:
            self._misread = True
            raise

    def _stop_fast_reader(self) -> None:
        if self._fast_reader is not None:
            self._fast_reader.close()
            self._fast_reader = None

    async def close(self) -> None:
        self._stop_fast_reader()
        await super().close()
        await self._writer.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def open_store(
    url: str,
    *,
    patience: float = 10.0,
    schema: Sequence[Migration] | None = None,
    shards: int = 1,
    lease_seconds: float | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> SqliteStore:
    """Opens `sqlite:FILE` or `sqlite::memory:` for this gateway alone. `patience`: the seconds to wait for another
    program that holds the file. In memory there may be several shards, with leases that expire by this clock, as in a
    store that several processes share."""
    if url != MEMORY and (shards, lease_seconds) != (1, None):
        raise BadUse("a file is one shard, and its lock is the lease; several shards need a store that can be shared")
    path = path_of(url)
    lock = None if url == MEMORY else Lock(Path(path))
    try:
        with fault_in(path):
            db = checked(path, patience)
            try:
                migrate(db, path, schema or migrations())
                _begin(db, shards)
                if lock is not None and schema is None:
                    import_page_log(db, path)
                    rehearse(db)
            except BaseException:
                db.close()
                raise
            fast_reader = None if lock is None or schema is not None else _fast_reader(path)
            return SqliteStore(path, patience, db, lock, fast_reader, lease_seconds, clock)
    except BaseException:
        if lock is not None:
            lock.release()
        raise


def _begin(db: Connection, shards: int) -> None:
    """Called under the lock, so nobody else claims anything here."""
    db.execute("BEGIN IMMEDIATE")
    db.draw_numbers()
    leases.all_have_ended(db)
    db.executemany("INSERT INTO shard VALUES (?, NULL, 0, NULL)", ((shard,) for shard in range(1, shards)))
    db.execute("COMMIT")
    db.shards = shards


def _fast_reader(path: str) -> Connection | None:
    """The connection for `SHORT` reads. It is optional, because reads in a thread report what is wrong with the
    file."""
    with suppress(sqlite3.Error):
        db = connect(path, 0.0, read_only=True)
        _in_one_view(db, rehearse_reading, ())
        return db
    return None


def _again(path: str, patience: float, before: Connection) -> Connection:
    """A new connection after a fault, which continues the numbers of the last one."""
    db = checked(path, patience)
    db.go_on_like(before)
    return db


def open_reader(url: str, *, patience: float = 10.0) -> SqliteReader:
    """Opens a store for reading, beside the gateway that runs on it."""
    return SqliteReader(existing(url), patience)


def _in_one_view(db: Connection, question: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    """Runs the question in one read transaction, so that all its statements see the same state."""
    db.execute("BEGIN")
    try:
        return question(db, *arguments)
    finally:
        db.execute("ROLLBACK")


def check(db: Connection) -> None:
    found = [row[0] for row in db.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise Damaged(found[0])
    check_bodies(db)


def _touch(db: Connection) -> None:
    """A write that changes no content but has to reach the disk; SQLite would skip one that changes no byte."""
    db.execute("UPDATE gateway SET generation = generation + 1")
    db.execute("UPDATE gateway SET generation = generation - 1")
