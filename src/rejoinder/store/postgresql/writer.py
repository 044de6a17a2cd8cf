"""The one writer of a process, on the event loop: waiting writes are carried out together, and share a commit.

Rule 1: writes that arrive while a group is under way form the next group, with one commit for all of them. Within a
        group, writes of different shards are under way at the same time, and those of one shard in their order.
Rule 2: a group is first carried out optimistically (pipelined.py), usually in one round trip with its commit. A write
        that lost a fence is done again behind its own savepoint, at its place in the order; a fault of the store fails
        the whole group.
Rule 3: no caller gets a result before the commit.
Rule 4: a commit without an answer is looked up when the database is back, never guessed (SC-22): each group writes its
        number to a row of this writer, and the lock on that row waits for a group that is still under way. A group that
        was not committed is done again; writes that come meanwhile are refused.
"""

import asyncio
import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from secrets import token_hex
from typing import Any, Final, TypeVar

import psycopg

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Accept, Lease, MoveCursor
from rejoinder.store.postgresql.connection import Connection
from rejoinder.store.postgresql.faults import AGAIN, unavailable
from rejoinder.store.postgresql.fibers import FiberQueues, start, wait
from rejoinder.store.postgresql.pipelined import FailedStatement, Pipelined, resolved
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.perform import perform
from rejoinder.store.sql.reader import OnResult, Verbs
from rejoinder.store.sql.values import seal
from rejoinder.store.sql.writing import GROUP, StoreWriter, count_rows

log = logging.getLogger(__name__)

SCOPE: Final = "rejoinder/commits"
"""The scope of the facts in which each writer stores the number of its last commit."""
GENERATIONS: Final = "SELECT id, generation FROM shard"
PAUSE: Final = 0.5
TRIES: Final = 5
SLOW: Final = 5.0
"""Seconds after which `health` reports a group that is still under way as a fault."""

Work = Callable[[SqlConnection], tuple[Any, ...]]
T = TypeVar("T")


class PendingWrite:
    """What one caller wants done together, and where the answer goes."""

    def __init__(self, verbs: Verbs, work: Work, on_result: OnResult | None = None, lease: Lease | None = None) -> None:
        self.verbs = verbs
        self.rows, self.accepts = count_rows(verbs)
        self.work = work
        self.on_result = on_result
        self.lease = lease
        self.queue = _queue_of(verbs, lease)
        self.is_careful = False
        self.queued: Callable[[], None] | None = None
        """The work that carries it out among others."""
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.result: tuple[Any, ...] = ()
        self.error: Exception | None = None

    def settle(self) -> None:
        if self.answer.done():
            return
        if self.error is not None:
            self.answer.set_exception(self.error)
            return
        if self.on_result is not None:
            self.on_result(self.result[0])
        self.answer.set_result(self.result)


def _queue_of(verbs: Verbs, lease: Lease | None) -> int | str | None:
    """The queue of a write; writes of different queues are independent. None: nothing else may run at the same time."""
    if lease is not None:
        return lease.shard
    return "accepting" if verbs and all(isinstance(verb, Accept | MoveCursor) for verb in verbs) else None


class Writer(StoreWriter):
    def __init__(
        self, where: str, connect: Callable[[], Connection], notify: Callable[[SqlConnection, set[int], set[int]], None]
    ) -> None:
        """`notify` is called after a commit with the shards that have new rows, and with those to which another shard's
        engine has written."""
        super().__init__(where)
        self._notify = notify
        self._name = token_hex(8)
        self._groups = 0
        self._connect = connect
        self._db: Pipelined | None = None
        self._queues = FiberQueues()
        self._waiting: deque[PendingWrite] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: asyncio.Future[None] | None = None
        self._ended: asyncio.Future[None] | None = None
        self._since: float | None = None
        self._commits = False
        self._touched: set[int] = set()
        self._crossed: set[int] = set()

    async def write(
        self, verbs: Verbs, on_result: OnResult | None = None, lease: Lease | None = None
    ) -> tuple[Any, ...]:
        return await self.submit(PendingWrite(verbs, partial(perform, verbs=verbs, lease=lease), on_result, lease))

    async def touch(self) -> None:
        """Tests whether writing is possible, by a write that changes nothing."""
        await self.submit(PendingWrite((), _touch))

    async def submit(self, write: PendingWrite) -> Any:
        self.refuse_when_closed()
        self._waiting.append(write)
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._ended = self._loop.create_future()
            self._loop.call_soon(start, self._run)
        self._wake()
        return await write.answer

    @property
    def is_held_up(self) -> bool:
        """Whether the server has not answered for long, or another session keeps this one waiting."""
        return self._since is not None and time.monotonic() - self._since > SLOW

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._wake()
            if self._ended is not None:
                await self._ended

    def _wake(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    # --- in the fiber -------------------------------------------------------------------------------

    def _run(self) -> None:
        while (group := self._group()) is not None:
            self._since = time.monotonic()
            try:
                done = self._carry_out(group)
            except Exception as error:  # noqa: BLE001 - whatever it is, it must reach those who wait
                self._failed(group, error)
                done = True
            self._since = None
            if done:
                for write in group:
                    write.settle()
                self._tell_others()
            else:
                self._waiting.extendleft(reversed(group))
        if self._db is not None:
            with suppress(psycopg.Error, FailedStatement):
                self._db.is_careful = True
                self._db.execute("DELETE FROM fact WHERE scope = ? AND key = ?", (SCOPE, self._name))
        self._let_go()
        self._queues.close()
        if self._ended is not None:
            self._ended.set_result(None)

    def _group(self) -> list[PendingWrite] | None:
        """The waiting writes, as many as one commit has room for."""
        assert self._loop is not None, "it runs there"
        while not self._waiting:
            if self._closed:
                return None
            self._idle = self._loop.create_future()
            wait(self._idle)
        group, rows = [self._waiting.popleft()], 0
        while self._waiting and self._waiting[0].is_careful is group[0].is_careful:
            rows += group[-1].rows
            if rows + self._waiting[0].rows > GROUP:
                break
            group.append(self._waiting.popleft())
        return group

    def _carry_out(self, group: list[PendingWrite]) -> bool:
        """Returns False if some of them have to be done again."""
        last: psycopg.Error | None = None
        for _ in range(TRIES):
            was_connected = self._db is not None
            db = self._ready()
            db.is_careful = group[0].is_careful
            self._commits = False
            try:
                done = self._one_by_one(db, group) if db.is_careful else self._together(db, group)
                self._told.tell(None)
                return done
            except psycopg.Error as error:
                last = error
                if db.wire.is_closed and was_connected and not self._commits:
                    self._let_go()  # the server had ended the connection while it was idle
                elif error.sqlstate in AGAIN:
                    db.take_back()
                else:
                    raise
        if last is not None and last.sqlstate not in AGAIN:
            raise last
        raise StoreUnavailable("locked", self._where, "other processes write the same rows all the time")

    def _ready(self) -> Pipelined:
        if self._db is not None and self._db.wire.has_ended():
            self._let_go()
        if self._db is None:
            assert self._loop is not None, "it runs there"
            before = self._in_thread(self._begin)
            self._db = Pipelined(before.db, self._loop)
            self._db.shards, self._db.numbers = before.shards, before.numbers
        return self._db

    def _begin(self) -> Connection:
        db = self._connect()
        row = (SCOPE, self._name, seal(b"0"))
        try:
            db.execute("INSERT INTO fact VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row)
        except BaseException:
            db.close()
            raise
        return db

    def _in_thread(self, work: Callable[[], T]) -> T:
        assert self._loop is not None, "it runs there"
        return wait(self._loop.run_in_executor(None, work))

    # --- a group ------------------------------------------------------------------------------------

    def _together(self, db: Pipelined, group: list[PendingWrite]) -> bool:
        """Returns False if some have to be done again, carefully."""
        try:
            db.begin()
            for queues in _stages(group):
                self._queues.run(([self._work_of(db, write) for write in queue] for queue in queues), db.round_trip)
            self._commit(db, group)
        except FailedStatement as failed:
            if unavailable(failed.error, self._where) is not None or _is_in_the_way(failed.error):
                raise failed.error from None
            wrong = failed.work
        except RejectedWrite as rejected:
            wrong = rejected.write.queued
        else:
            for write in group:
                write.result = resolved(write.result)
            return True
        db.take_back()
        latest = dict(db.execute(GENERATIONS).fetchall()) if wrong is None else {}
        for write in group:
            write.is_careful = write.queued is wrong if wrong is not None else _has_lost(write.lease, latest)
        if not any(write.is_careful for write in group):  # the culprit is unknown: all are done carefully
            for write in group:
                write.is_careful = True
        return False

    def _work_of(self, db: Pipelined, write: PendingWrite) -> Callable[[], None]:
        def work() -> None:
            try:
                write.result, write.error = write.work(db), None
            except FailedStatement:
                raise
            except Exception as error:
                if unavailable(error, self._where) is not None or _is_in_the_way(error):
                    raise
                raise RejectedWrite(write) from None

        write.queued = work
        return work

    def _one_by_one(self, db: Pipelined, group: list[PendingWrite]) -> bool:
        db.begin()
        for write in group:
            db.execute("SAVEPOINT one_write")
            try:
                write.result, write.error = write.work(db), None
            except Exception as error:
                if unavailable(error, self._where) is not None or _is_in_the_way(error):
                    raise
                write.error = error
                db.execute("ROLLBACK TO one_write")
                db.forget_all()
            db.execute("RELEASE one_write")
        self._commit(db, group)
        return True

    def _commit(self, db: Pipelined, group: list[PendingWrite]) -> None:
        if any(write.accepts for write in group):
            crashpoint("K3")
        self._groups += 1
        number = seal(str(self._groups).encode())
        self._commits = True
        try:
            db.execute("UPDATE fact SET body = ? WHERE scope = ? AND key = ?", (number, SCOPE, self._name))
            db.commit()
        except psycopg.OperationalError:
            if not db.wire.is_closed:
                raise
            self._let_go()
            if not self._was_committed(number, group):
                raise
            return
        for write in group:
            if write.accepts:
                crashpoint("K4")
        self._touched, self._crossed = db.take_touched()

    def _tell_others(self) -> None:
        """Notifies others, after the commit: inside a transaction all writers would wait for each other."""
        touched, self._touched = self._touched, set()
        crossed, self._crossed = self._crossed, set()
        if self._db is not None and touched:
            self._db.is_careful = True
            with suppress(psycopg.Error):  # waiting processes also look by themselves
                self._notify(self._db, touched, crossed)

    def _was_committed(self, number: bytes, group: list[PendingWrite]) -> bool:
        """Asks the database until it answers, because the caller must not get a wrong result. If the writer is closed
        before that, the outcome stays unknown, and the group is not done again."""
        while not self._closed:
            try:
                was = self._in_thread(lambda: self._look_up(number, group))
            except psycopg.Error as error:
                fault = unavailable(error, self._where)
                self._told.tell(fault)
                self._refuse_waiting(fault or error)
                self._pause()
            else:
                self._commits = was
                return was
        return False

    def _look_up(self, number: bytes, group: list[PendingWrite]) -> bool:
        """Whether the group was committed; if so, also looks up the results of its writes."""
        sql = "SELECT body FROM fact WHERE scope = ? AND key = ? FOR UPDATE"
        with closing(self._begin()) as db:
            if bytes(db.execute(sql, (SCOPE, self._name)).fetchone()[0]) != number:
                return False
            for write in group:
                write.result = resolved(write.result, db)
        return True

    def _refuse_waiting(self, error: Exception) -> None:
        """Refuses writes that have not begun, so that they need not wait until the outcome of those under way is
        known."""
        while self._waiting:
            write = self._waiting.popleft()
            write.error = error
            write.settle()

    def _pause(self) -> None:
        assert self._loop is not None, "it runs there"
        over = self._loop.create_future()
        self._loop.call_later(PAUSE, over.set_result, None)
        wait(over)

    def _failed(self, group: list[PendingWrite], error: Exception) -> None:
        fault = unavailable(error, self._where)
        if fault is None:
            log.error("The store %s failed in an unexpected way", self._where, exc_info=error)
        self._let_go()
        self._told.tell(fault)
        for write in group:
            write.error = fault or error

    def _let_go(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None


class RejectedWrite(Exception):
    """A write has lost its fence, or relies on an assumption that may be wrong."""

    def __init__(self, write: PendingWrite) -> None:
        self.write = write


def _stages(group: Iterable[PendingWrite]) -> Iterator[list[list[PendingWrite]]]:
    """Splits a group into stages. A stage consists of queues that can be under way at the same time, each in its
    order."""
    queues: defaultdict[int | str, list[PendingWrite]] = defaultdict(list)
    for write in group:
        if write.queue is not None:
            queues[write.queue].append(write)
            continue
        if queues:
            yield [*queues.values()]
            queues.clear()
        yield [[write]]
    if queues:
        yield [*queues.values()]


def _has_lost(lease: Lease | None, latest: dict[int, int]) -> bool:
    return lease is not None and latest.get(lease.shard) != lease.generation


def _is_in_the_way(error: Exception) -> bool:
    return isinstance(error, psycopg.Error) and error.sqlstate in AGAIN


def _touch(db: SqlConnection) -> tuple[()]:
    db.execute("UPDATE gateway SET generation = generation")
    return ()
