"""The one writer: statements on the event loop, commits in a thread, in groups without a timer (DU-12).

Statements take microseconds, commits wait for the disk. In the thread statements would be slow as well: between two
of them it needs the interpreter, and a busy loop lends that out only every few milliseconds.

Rule 1: idle, it begins at once with what has been asked for; what comes while it commits is the next group.
Rule 2: nobody is answered before the commit of their group, and everybody of it right after.
Rule 3: a unit that lost its fence takes back only itself; a fault of the store takes back the whole group.
Rule 4: after a fault the next group tries again. Nothing is kept in memory for later.
Rule 5: whatever may take long is done in the thread: a commit, a new connection, the wait for another program that
        holds the file. Meanwhile the connection is the thread's alone.
Rule 6: once a second it looks whether somebody else has written, such as an operator, and says so.
"""

import asyncio
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Accept, Verb
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.faults import unavailable
from rejoinder.store.sqlite.perform import perform

log = logging.getLogger(__name__)

GROUP = 200
"""Rows of one commit, at most; a single larger unit goes alone."""

A_LOOK = 1.0
"""Seconds between two looks for what others have written. Asking costs microseconds."""

Verbs = tuple[Verb[Any], ...]
Job = tuple[Callable[[], None], Callable[[Exception | None], None]]


class Unit:
    """What one caller wants done together, and where the answer goes."""

    def __init__(self, verbs: Verbs, work: Callable[[Connection], Any]) -> None:
        accepted = [len(verb.events) - 1 for verb in verbs if type(verb) is Accept]
        self.rows = len(verbs) + sum(accepted)
        self.accepts = bool(accepted)
        self.work = work
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.result: Any = None
        self.error: Exception | None = None

    def settle(self) -> None:
        if self.answer.cancelled():
            return
        if self.error is not None:
            self.answer.set_exception(self.error)
        else:
            self.answer.set_result(self.result)


class Writer:
    def __init__(self, db: Connection, where: str, patience: float, reopen: Callable[[], Connection] | None) -> None:
        self._reopen = reopen  # None where there is nothing to come back to, and no disk to wait for: in memory
        self._where = where
        self._patience = round(patience * 1000)
        self._db: Connection | None = db
        db.execute("PRAGMA busy_timeout = 0")
        self._version: int | None = _version(db)  # of the file as this connection last saw it; None: nothing yet
        self._waiting: deque[Unit] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._busy = False
        self._closed = False
        self._rest: asyncio.Future[None] | None = None  # who closes it waits for what is under way
        self._listening: list[Callable[[], None]] = []
        self._look_due = False
        self._next_look: asyncio.TimerHandle | None = None
        self.fault: StoreUnavailable | None = None
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="rejoinder-store", daemon=True)
        if reopen is not None:
            self._thread.start()

    async def write(self, verbs: Verbs) -> tuple[Any, ...]:
        return await self.submit(Unit(verbs, lambda db: perform(db, verbs)))

    async def submit(self, unit: Unit) -> Any:
        self.refuse_when_closed()
        self._waiting.append(unit)
        self._loop = unit.answer.get_loop()
        if not self._busy:
            self._busy = True
            self._begin()
        return await unit.answer

    def refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("closed", self._where)

    async def close(self) -> None:
        """Commits what has been asked for, then ends the thread."""
        if self._closed:
            return
        self._closed = True
        if self._next_look is not None:
            self._next_look.cancel()
        loop = asyncio.get_running_loop()
        if self._busy:
            self._rest = loop.create_future()
            await self._rest
        if self._reopen is None:
            self._let_go()
        else:
            self._jobs.put(None)
            await loop.run_in_executor(None, self._thread.join)

    # --- a group, on the loop -----------------------------------------------------------------------

    def _begin(self) -> None:
        group = self._gather()
        try:
            if self._db is None:
                return self._in_thread(self._begin_patiently, group, self._carry_out)
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if self._reopen is not None and _is_busy(error):
                return self._in_thread(self._begin_patiently, group, self._carry_out)
            return self._failed(group, error)
        self._carry_out(group)

    def _gather(self) -> list[Unit]:
        """What waits, in order."""
        group = [self._waiting.popleft()]
        rows = group[0].rows
        while self._waiting and rows + self._waiting[0].rows <= GROUP:
            group.append(self._waiting.popleft())
            rows += group[-1].rows
        return group

    def _carry_out(self, group: list[Unit]) -> None:
        db = self._db
        assert db is not None, "a group begins with a connection"
        try:
            if not self._all_at_once(db, group):
                db.take_back()
                db.execute("BEGIN IMMEDIATE")
                for unit in group:
                    self._one_by_one(db, unit)
            if any(unit.accepts for unit in group):
                crashpoint("K3")
            if self._reopen is not None:
                return self._in_thread(self._commit, group, self._committed)
            db.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - whatever it is, it must reach those who wait
            return self._failed(group, error)
        self._committed(group)

    def _all_at_once(self, db: Connection, group: list[Unit]) -> bool:
        """False when a unit lost its fence: then each is done behind a savepoint of its own, which costs more."""
        try:
            for unit in group:
                unit.result = unit.work(db)
        except Exception as error:
            if unavailable(error, self._where) is not None:
                raise
            return False
        return True

    def _one_by_one(self, db: Connection, unit: Unit) -> None:
        db.execute("SAVEPOINT unit")
        try:
            unit.result = unit.work(db)
        except Exception as error:
            if unavailable(error, self._where) is not None:
                raise
            unit.error = error
            db.take_back("unit")
        db.execute("RELEASE unit")

    def _committed(self, group: list[Unit]) -> None:
        self._tell(None)
        for unit in group:
            if unit.accepts:
                crashpoint("K4")
        self._settle(group)

    def _failed(self, group: list[Unit], error: Exception) -> None:
        self._take_back()
        fault = unavailable(error, self._where)
        if fault is None:
            log.error("The store %s failed in a way nobody has thought of", self._where, exc_info=error)
        self._tell(fault)
        for unit in group:
            unit.error = fault or error
        self._settle(group)

    def _settle(self, group: list[Unit]) -> None:
        for unit in group:
            unit.settle()
        if self._look_due:
            self._look()
        if not self._waiting:
            self._busy = False
            if self._rest is not None:
                self._rest.set_result(None)
        elif self._loop is not None:
            self._loop.call_soon(self._begin)  # when those just answered have had their say: it is the same group

    def _tell(self, fault: StoreUnavailable | None) -> None:
        """Once for each change: a full disk is met by every message that comes."""
        before, self.fault = self.fault, fault
        if fault is not None and (before is None or before.fault != fault.fault):
            log.error("%s Nothing is acknowledged until then.", fault)
        elif before is not None and fault is None:
            log.warning("The store %s can be written again.", self._where)

    def _take_back(self) -> None:
        """Undoes the group, and lets go of a connection that may have seen what is no longer true."""
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

    def _in_thread(self, work: Callable[[], None], group: list[Unit], then: Callable[[list[Unit]], None]) -> None:
        def go_on(error: Exception | None) -> None:
            if error is None:
                then(group)
            else:
                self._failed(group, error)

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
            except RuntimeError:  # the loop has ended, and with it whoever waited
                self._take_back()
                self._waiting.clear()
                self._busy = False
        self._let_go()

    def _commit(self) -> None:
        assert self._db is not None
        self._db.execute("COMMIT")

    def _begin_patiently(self) -> None:
        if self._db is None and self._reopen is not None:
            self._db = self._reopen()
        assert self._db is not None
        self._db.execute(f"PRAGMA busy_timeout = {self._patience}")
        try:
            self._db.execute("BEGIN IMMEDIATE")
        finally:
            self._db.execute("PRAGMA busy_timeout = 0")

    # --- what others have written -------------------------------------------------------------------

    def on_foreign_change(self, told: Callable[[], None]) -> None:
        self._listening.append(told)
        if self._next_look is None and self._reopen is not None:  # nobody else can reach a store in memory
            self._next_look = asyncio.get_running_loop().call_later(A_LOOK, self._look_again)

    def _look_again(self) -> None:
        self._next_look = asyncio.get_running_loop().call_later(A_LOOK, self._look_again)
        if self._busy:
            self._look_due = True  # the connection is the thread's
        else:
            self._look()

    def _look(self) -> None:
        """SQLite counts what other connections have committed; what this one did is not in it."""
        self._look_due = False
        if self._db is None:
            return  # the next group brings a connection
        try:
            version = _version(self._db)
        except sqlite3.Error:
            return  # the next group meets it too, and says so
        if version != self._version:
            self._version = version
            for told in self._listening:
                told()


def _version(db: Connection) -> int:
    return db.execute("PRAGMA data_version").fetchone()[0]


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
