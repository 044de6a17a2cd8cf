"""The one writer of a process: a thread that carries out what waits together, and commits it at once.

Rule 1: units that arrive while a group is under way form the next group: one commit for all of them.
Rule 2: a unit that lost its fence rolls back only itself; a fault of the store fails the whole group.
Rule 3: nobody is told anything before the commit.
Rule 4: a commit without an answer is looked up when the database is back, never guessed (SC-22): each group writes its
        number to a row of this writer, and the lock on that row waits for a group that is still under way.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from secrets import token_hex
from typing import Any

import psycopg

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Accept, Lease, Verb
from rejoinder.store.postgresql.connection import Connection
from rejoinder.store.postgresql.faults import AGAIN, unavailable
from rejoinder.store.sql.perform import perform
from rejoinder.store.sql.values import seal

log = logging.getLogger(__name__)

GROUP = 200
"""The most rows in one commit; a single larger unit is committed alone."""
SCOPE = "rejoinder/commits"
"""Of the facts in which each writer keeps the number of its last commit."""
PAUSE = 0.5
TRIES = 5

Verbs = tuple[Verb[Any], ...]
Work = Callable[[Connection], Any]


class PendingWrite:
    """What one caller wants done together, and where the answer goes."""

    def __init__(self, verbs: Verbs, work: Work, known: Callable[[Any], None] | None) -> None:
        accepted = [len(verb.events) - 1 for verb in verbs if type(verb) is Accept]
        self.rows = len(verbs) + sum(accepted)
        self.accepts = bool(accepted)
        self.work = work
        self.known = known
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()
        self.result: Any = None
        self.error: Exception | None = None

    def settle(self) -> None:
        if self.answer.done():
            return
        if self.error is not None:
            self.answer.set_exception(self.error)
            return
        if self.known is not None:
            self.known(self.result)
        self.answer.set_result(self.result)


class Writer:
    def __init__(
        self, where: str, connect: Callable[[], Connection], notify: Callable[[Connection, set[int]], None]
    ) -> None:
        self._notify = notify
        self._name = token_hex(8)
        self._groups = 0
        self._where = where
        self._connect = connect
        self._db: Connection | None = None
        self._queue: SimpleQueue[PendingWrite | None] = SimpleQueue()
        self._next: PendingWrite | None = None
        self._closed = False
        self.fault: StoreUnavailable | None = None
        self._thread = threading.Thread(target=self._run, name="rejoinder-store", daemon=True)
        self._thread.start()

    async def write(
        self, verbs: Verbs, known: Callable[[Any], None] | None = None, lease: Lease | None = None
    ) -> tuple[Any, ...]:
        return await self.submit(PendingWrite(verbs, lambda db: perform(db, verbs, lease), known))

    async def touch(self) -> None:
        """A write that changes nothing: whether one is possible."""
        await self.submit(PendingWrite((), _touch, None))

    async def submit(self, unit: PendingWrite) -> Any:
        self.refuse_when_closed()
        self._queue.put(unit)
        return await unit.answer

    def refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("closed", self._where)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    # --- in the thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        while (group := self._group()) is not None:
            try:
                self._carry_out(group)
            except Exception as error:  # noqa: BLE001 - whatever it is, it must reach those who wait
                self._failed(group, error)
            self._settle(group)
        if self._db is not None:
            with suppress(psycopg.Error):
                self._db.execute("DELETE FROM fact WHERE scope = ? AND key = ?", (SCOPE, self._name))
        self._let_go()

    def _group(self) -> list[PendingWrite] | None:
        """What waits, as far as one commit has room for it."""
        first = self._next or self._queue.get()
        self._next = None
        if first is None:
            return None
        group, rows = [first], first.rows
        while not self._queue.empty():
            unit = self._queue.get()
            if unit is None:
                self._queue.put(None)
                break
            if rows + unit.rows > GROUP:
                self._next = unit
                break
            group.append(unit)
            rows += unit.rows
        return group

    def _carry_out(self, group: list[PendingWrite]) -> None:
        for _ in range(TRIES):
            db = self._ready()
            try:
                if not self._together(db, group):
                    self._one_by_one(db, group)
                return self._tell(None)
            except psycopg.Error as error:
                if error.sqlstate not in AGAIN:
                    raise
                self._take_back(db)
        raise StoreUnavailable("locked", self._where, "other processes write the same rows all the time")

    def _ready(self) -> Connection:
        if self._db is None:
            self._db = self._connect()
            row = (SCOPE, self._name, seal(b"0"))
            self._db.execute("INSERT INTO fact VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row)
        return self._db

    def _together(self, db: Connection, group: list[PendingWrite]) -> bool:
        """Returns False when one of them has lost its fence."""
        db.db.execute(b"BEGIN")
        for unit in group:
            try:
                unit.result, unit.error = unit.work(db), None
            except Exception as error:
                if unavailable(error, self._where) is not None or _is_in_the_way(error):
                    raise
                self._take_back(db)
                return False
        self._commit(db, group)
        return True

    def _one_by_one(self, db: Connection, group: list[PendingWrite]) -> None:
        db.db.execute(b"BEGIN")
        for unit in group:
            db.db.execute(b"SAVEPOINT unit")
            try:
                unit.result, unit.error = unit.work(db), None
            except Exception as error:
                if unavailable(error, self._where) is not None or _is_in_the_way(error):
                    raise
                unit.error = error
                db.db.execute(b"ROLLBACK TO unit")
                db.forget_all()
            db.db.execute(b"RELEASE unit")
        self._commit(db, group)

    def _commit(self, db: Connection, group: list[PendingWrite]) -> None:
        self._groups += 1
        number = seal(str(self._groups).encode())
        db.execute("UPDATE fact SET body = ? WHERE scope = ? AND key = ?", (number, SCOPE, self._name))
        if any(unit.accepts for unit in group):
            crashpoint("K3")
        try:
            db.db.execute(b"COMMIT")
        except psycopg.OperationalError as error:
            if not db.db.closed:
                raise
            self._let_go()
            if not self._was_committed(number):
                raise error
        for unit in group:
            if unit.accepts:
                crashpoint("K4")
        touched, db.touched = db.touched, set()
        with suppress(psycopg.Error):  # those who wait also look by themselves
            self._notify(db, touched)

    def _was_committed(self, number: bytes) -> bool:
        """Asks until somebody answers: the caller must not be told what may not be so."""
        while not self._closed:
            try:
                sql = "SELECT body FROM fact WHERE scope = ? AND key = ? FOR UPDATE"
                (last,) = self._ready().execute(sql, (SCOPE, self._name)).fetchone()
            except psycopg.Error as error:
                self._let_go()
                self._tell(unavailable(error, self._where))
                time.sleep(PAUSE)
                continue
            return bytes(last) == number
        return False

    def _failed(self, group: list[PendingWrite], error: Exception) -> None:
        fault = unavailable(error, self._where)
        if fault is None:
            log.error("The store %s failed in a way nobody has thought of", self._where, exc_info=error)
        self._let_go()
        self._tell(fault)
        for unit in group:
            unit.error = fault or error

    def _settle(self, group: list[PendingWrite]) -> None:
        for unit in group:
            with suppress(RuntimeError):  # the loop has ended, and with it the caller
                unit.loop.call_soon_threadsafe(unit.settle)

    def _take_back(self, db: Connection) -> None:
        db.db.execute(b"ROLLBACK")
        db.forget_all()
        db.touched.clear()

    def _let_go(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    def _tell(self, fault: StoreUnavailable | None) -> None:
        """Logs each change once: every message that comes meets a server that is gone."""
        before, self.fault = self.fault, fault
        if fault is not None and (before is None or before.fault != fault.fault):
            log.error("%s Nothing is acknowledged until then.", fault)
        elif before is not None and fault is None:
            log.warning("The store %s can be written again.", self._where)


def _is_in_the_way(error: Exception) -> bool:
    return isinstance(error, psycopg.Error) and error.sqlstate in AGAIN


def _touch(db: Connection) -> None:
    db.execute("UPDATE gateway SET generation = generation")
