"""The one writer: statements on the event loop, commits in a thread, in groups without a timer (DU-12).

Statements take microseconds, commits wait for the disk. In the thread, statements would be slow too: between two of
them the thread needs the interpreter lock, which a busy loop releases only every few milliseconds.

Rule 1: a write is carried out at once, and committed after all tasks that are awake have had a chance to submit theirs,
        so that they share the commit. Writes that arrive while the commit is under way form the next group.
Rule 2: no caller is answered before the commit of its group, and every caller is answered right after it. In memory
        nothing is ever durable: callers are answered at once, and a group is committed when full or before a read.
Rule 3: a write that lost its fence rolls back only itself; a fault of the store rolls back the whole group.
Rule 4: a write that has to be done again has the same results as before, so that what callers were told early stays
        true.
Rule 5: after a fault the next group tries again. Nothing is kept in memory for later.
Rule 6: whatever may take long is done in the thread: a commit, a new connection, the wait for another program that
        holds the file. Meanwhile only the thread uses the connection.
Rule 7: once a second the writer checks whether another process, such as an operator's, has written, and says so.
Rule 8: nothing is committed to a file that is no longer under its name: it would be lost with this process (DU-15).
"""

import asyncio
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Lease
from rejoinder.store.sql.perform import perform
from rejoinder.store.sql.reader import OnResult, Verbs
from rejoinder.store.sql.writing import GROUP, StoreWriter, count_rows
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.faults import unavailable

log = logging.getLogger(__name__)


LOOK_SECONDS = 1.0
"""Seconds between two checks for what other processes have written. A check takes microseconds."""

DECISION_ITERATIONS = 3
"""Iterations of the loop within which callers that are told early also write: an accepted message is decided within
them, and shares its commit with its decision."""

Job = tuple[Callable[[], None], Callable[[Exception | None], None]]


class PendingWrite:
    """The verbs that one caller wants written together, and the future for the answer."""

    def __init__(self, verbs: Verbs, work: Callable[[Connection], Any], on_result: OnResult | None = None) -> None:
        self.rows, self.accepts = count_rows(verbs)
        self.work = work
        self.on_result = on_result
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.result: Any = None
        self.error: Exception | None = None

    def settle(self) -> None:
        if self.answer.done():  # the caller has been cancelled
            return
        if self.error is None:
            self.answer.set_result(self.result)
        else:
            self.answer.set_exception(self.error)


class Writer(StoreWriter):
    def __init__(
        self,
        db: Connection,
        where: str,
        patience: float,
        reopen: Callable[[], Connection] | None,
        is_in_place: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(where)
        self._is_in_place = is_in_place
        self._reopen = reopen  # None in memory, where there is nothing to reopen and no disk to wait for
        self._patience = round(patience * 1000)
        self._db: Connection | None = db
        db.execute("PRAGMA busy_timeout = 0")
        self._version: int | None = _version(db)  # of the file when last seen; None: not seen yet
        self._waiting: deque[PendingWrite] = deque()
        self._group: list[PendingWrite] = []  # carried out, but not committed yet
        self._rows = 0  # of the group
        self._accepts = False  # whether one of the group accepts messages
        self._is_open = False  # a transaction
        self._is_careful = False  # whether one of the group has lost its fence
        self._drawn_before = db.numbers.drawn()
        self._due = False  # its commit is scheduled
        self._loop: asyncio.AbstractEventLoop | None = None
        self._away = False  # the thread is using the connection
        self._rest: asyncio.Future[None] | None = None  # `close` waits on it for writes under way
        self._listening: list[Callable[[], None]] = []
        self._look_due = False
        self._next_look: asyncio.TimerHandle | None = None
        self.is_held_up = False
        """Whether another program holds the file, so that the thread is waiting for it."""
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="rejoinder-store", daemon=True)
        if reopen is not None:
            self._thread.start()

    def write(
        self, verbs: Verbs, on_result: OnResult | None = None, lease: Lease | None = None
    ) -> asyncio.Future[tuple[Any, ...]]:
        return self.submit(PendingWrite(verbs, partial(perform, verbs=verbs, lease=lease), on_result))

    def submit(self, write: PendingWrite) -> asyncio.Future[Any]:
        """Begins the write at once; returns a future with the answer."""
        if self._closed:
            self.refuse_when_closed()
        self._waiting.append(write)
        self._loop = write.answer.get_loop()
        if not self._away:
            self._carry_out()
        return write.answer

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop that writes, once there is one."""
        return self._loop

    async def close(self) -> None:
        """Commits the submitted writes, then ends the thread."""
        if self._closed:
            return
        self._closed = True
        if self._next_look is not None:
            self._next_look.cancel()
        loop = asyncio.get_running_loop()
        if self._reopen is None:
            self.finish()
        if self._is_busy:
            self._rest = loop.create_future()
            await self._rest
        if self._reopen is None:
            self._let_go()
        else:
            self._jobs.put(None)
            await loop.run_in_executor(None, self._thread.join)

    def finish(self) -> None:
        """In memory: commits at once, before a read through the same connection."""
        if self._is_open and not self._away:
            self._commit()

    @property
    def _is_busy(self) -> bool:
        return self._away or self._is_open or bool(self._waiting)

    # --- a group, on the loop -----------------------------------------------------------------------

    def _carry_out(self) -> None:
        """Carries out the waiting writes, as far as this commit has room for them."""
        if not self._is_open and not self._begin():
            return
        done: list[PendingWrite] = []
        while self._waiting and (not self._group or self._rows + self._waiting[0].rows <= GROUP):
            write = self._waiting.popleft()
            self._group.append(write)
            self._rows += write.rows
            self._accepts |= write.accepts
            try:
                self._do(write)
            except Exception as error:  # noqa: BLE001 - whatever it is, it must reach those who wait
                return self._failed(error)
            done.append(write)
        if self._waiting:
            self._commit()
        elif not self._due and self._loop is not None and self._reopen is not None:
            self._due = True
            self._commit_after(DECISION_ITERATIONS, self._loop)
        for write in done:
            if self._reopen is None:
                write.settle()
            if write.on_result is not None and write.error is None:
                write.on_result(write.result[0])

    def _begin(self) -> bool:
        """Returns False if beginning needs the thread, or fails."""
        try:
            if self._db is None:
                self._in_thread(self._begin_patiently, self._begun)
                return False
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if self._reopen is not None and _is_busy(error):
                self._in_thread(self._begin_patiently, self._begun)
            else:
                self._failed(error)
            return False
        self._opened(self._db)
        return True

    def _begun(self) -> None:
        assert self._db is not None, "a group begins with a connection"
        self._opened(self._db)
        self._carry_out()

    def _opened(self, db: Connection) -> None:
        self._is_open, self._is_careful, self._drawn_before = True, False, db.numbers.drawn()

    def _do(self, write: PendingWrite) -> None:
        db = self._db
        assert db is not None, "it is open"
        if self._is_careful:
            return self._do_carefully(db, write)
        try:
            write.result = write.work(db)
        except Exception as error:
            if unavailable(error, self._where) is not None:
                raise
            self._do_again(db)

    def _do_again(self, db: Connection) -> None:
        """A write has lost its fence: does the group again, each write behind its own savepoint, which costs more."""
        db.take_back()
        db.numbers.draw_again_from(self._drawn_before)
        db.execute("BEGIN IMMEDIATE")
        self._is_careful = True
        for write in self._group:
            self._do_carefully(db, write)

    def _do_carefully(self, db: Connection, write: PendingWrite) -> None:
        db.execute("SAVEPOINT one_write")
        try:
            write.result = write.work(db)
        except Exception as error:
            if unavailable(error, self._where) is not None:
                raise
            write.error = error
            db.take_back("one_write")
        db.execute("RELEASE one_write")

    def _commit_after(self, iterations: int, loop: asyncio.AbstractEventLoop) -> None:
        if iterations:
            loop.call_soon(self._commit_after, iterations - 1, loop)
            return
        self._due = False
        if self._is_open and not self._away:
            self._commit()

    def _commit(self) -> None:
        if self._accepts:
            crashpoint("K3")
        if self._reopen is not None:
            return self._in_thread(self._commit_to_disk, self._committed)
        try:
            self._commit_to_disk()
        except sqlite3.Error as error:
            return self._failed(error)
        self._committed()

    def _committed(self) -> None:
        group = self._ended()
        self._told.tell(None)
        for write in group:
            if write.accepts:
                crashpoint("K4")
        self._settle(group)

    def _failed(self, error: Exception) -> None:
        group = [*self._ended(), *self._waiting]  # the waiting writes would meet the same fault
        self._waiting.clear()
        self._take_back()
        fault = unavailable(error, self._where)
        if fault is None:
            log.error("The store %s failed in an unexpected way", self._where, exc_info=error)
        self._told.tell(fault)
        for write in group:
            write.error = fault or error
        self._settle(group)

    def _ended(self) -> list[PendingWrite]:
        """Ends the open group and returns it."""
        group, self._group, self._rows, self._accepts, self._is_open = self._group, [], 0, False, False
        return group

    def _settle(self, group: list[PendingWrite]) -> None:
        for write in group:
            write.settle()
        if self._look_due:
            self._look()
        if self._waiting:
            self._carry_out()
        elif self._rest is not None:
            self._rest.set_result(None)

    def _take_back(self) -> None:
        """Rolls back the group, and closes the connection, whose cache may no longer be true."""
        if self._db is None:
            return
        with suppress(sqlite3.Error):  # closing rolls back as well
            if self._db.in_transaction:
                self._db.take_back()
        if self._reopen is not None:
            self._let_go()

    def _let_go(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = self._version = None

    # --- in the thread ------------------------------------------------------------------------------

    def _in_thread(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        def go_on(error: Exception | None) -> None:
            self._away = False
            if error is None:
                then()
            else:
                self._failed(error)

        self._away = True
        self._jobs.put((work, go_on))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, go_on = job
            error: Exception | None = None
            try:
                work()
            except Exception as problem:  # noqa: BLE001 - the same
                error = problem
            try:
                assert self._loop is not None
                self._loop.call_soon_threadsafe(go_on, error)
            except RuntimeError:  # the loop has ended, and with it all waiting callers
                self._ended()
                self._waiting.clear()
                self._take_back()
                self._away = False
        self._let_go()

    def _commit_to_disk(self) -> None:
        assert self._db is not None
        self._refuse_when_gone()
        self._db.execute("COMMIT")

    def _refuse_when_gone(self) -> None:
        if not self._is_in_place():
            raise StoreUnavailable("gone", self._where)

    def _begin_patiently(self) -> None:
        self._refuse_when_gone()
        if self._db is None and self._reopen is not None:
            self._db = self._reopen()
        assert self._db is not None
        self._db.execute(f"PRAGMA busy_timeout = {self._patience}")
        self.is_held_up = True
        try:
            self._db.execute("BEGIN IMMEDIATE")
        finally:
            self.is_held_up = False
            self._db.execute("PRAGMA busy_timeout = 0")

    # --- writes of other processes ------------------------------------------------------------------

    def on_external_change(self, callback: Callable[[], None]) -> None:
        self._listening.append(callback)
        if self._next_look is None and self._reopen is not None:  # no other process can reach a store in memory
            self._next_look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._next_look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)
        if self._is_busy:
            self._look_due = True
        else:
            self._look()

    def _look(self) -> None:
        """SQLite's `data_version` changes with the commits of other connections, not with those of this one."""
        self._look_due = False
        if not self._is_in_place():
            return self._told.tell(StoreUnavailable("gone", self._where))
        if self._db is None:
            return  # the next group brings a connection
        try:
            version = _version(self._db)
        except sqlite3.Error:
            return  # the next group meets the fault too, and reports it
        if version != self._version:
            self._version = version
            for callback in self._listening:
                callback()


def _version(db: Connection) -> int:
    return db.execute("PRAGMA data_version").fetchone()[0]


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
