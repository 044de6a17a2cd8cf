"""The one writer: a thread that commits in groups, without a timer (DU-12).

Rule 1: idle, it commits what comes at once; what comes while it commits is the next group.
Rule 2: nobody is answered before the commit of their group, and everybody of it right after.
Rule 3: a unit that lost its fence takes back only itself; a fault of the store takes back the whole group.
Rule 4: after a fault the next group tries again. Nothing is kept in memory for later.
"""

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Accept, Verb
from rejoinder.store.sqlite.faults import unavailable
from rejoinder.store.sqlite.perform import perform, rows_of

log = logging.getLogger(__name__)

GROUP = 200
"""Rows of one commit, at most; a single larger unit goes alone."""

Verbs = tuple[Verb[Any], ...]


class Unit:
    """What one caller wants done together, and where the answer goes."""

    def __init__(self, verbs: Verbs, work: Callable[[sqlite3.Connection], Any]) -> None:
        self.rows = rows_of(verbs)
        self.accepts = any(isinstance(verb, Accept) for verb in verbs)
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()
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
    def __init__(self, connect: Callable[[], sqlite3.Connection] | None, where: str) -> None:
        self._connect = connect  # None where there is nothing to come back to: a store in memory
        self._where = where
        self._db: sqlite3.Connection | None = None
        self._queue: SimpleQueue[Unit | None] = SimpleQueue()
        self._held_over: Unit | None = None
        self._closed = False
        self.fault: StoreUnavailable | None = None
        self._thread = threading.Thread(target=self._serve, name="rejoinder-store", daemon=True)

    def start(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._thread.start()

    async def write(self, verbs: Verbs) -> tuple[Any, ...]:
        return await self.submit(Unit(verbs, lambda db: perform(db, verbs)))

    async def submit(self, unit: Unit) -> Any:
        if self._closed:
            raise StoreUnavailable("closed", self._where)
        self._queue.put(unit)
        return await unit.answer

    def close(self) -> None:
        """Commits what has been asked for, then ends the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    # --- in the thread ------------------------------------------------------------------------------

    def _serve(self) -> None:
        going_on = True
        while going_on:
            group, going_on = self._gather()
            if group:
                self._commit(group)
                self._answer(group)
        if self._db is not None:
            self._db.close()

    def _gather(self) -> tuple[list[Unit], bool]:
        """What is there, without waiting for more; and whether anything can still come."""
        unit = self._held_over or self._queue.get()
        group: list[Unit] = []
        rows, self._held_over = 0, None
        while unit is not None:
            if group and rows + unit.rows > GROUP:
                self._held_over = unit
                return group, True
            group.append(unit)
            rows += unit.rows
            try:
                unit = self._queue.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _commit(self, group: list[Unit]) -> None:
        try:
            if self._db is None and self._connect is not None:
                self._db = self._connect()
            db = self._db
            assert db is not None
            db.execute("BEGIN IMMEDIATE")
            if not self._all_at_once(db, group):
                db.execute("ROLLBACK")
                db.execute("BEGIN IMMEDIATE")
                for unit in group:
                    self._carry_out(db, unit)
            db.execute("COMMIT")
        except Exception as error:  # whatever it is, it must reach those who wait
            self._take_back()
            fault = unavailable(error, self._where)
            if fault is None:
                log.exception("The store %s failed in a way nobody has thought of", self._where)
            self._tell(fault)
            for unit in group:
                unit.error = fault or error
            return
        self._tell(None)
        if any(unit.accepts for unit in group):
            crashpoint("K4")

    def _tell(self, fault: StoreUnavailable | None) -> None:
        """Once for each change: a full disk is met by every message that comes."""
        before, self.fault = self.fault, fault
        if fault is not None and (before is None or before.fault != fault.fault):
            log.error("%s Nothing is acknowledged until then.", fault)
        elif before is not None and fault is None:
            log.warning("The store %s can be written again.", self._where)

    def _all_at_once(self, db: sqlite3.Connection, group: list[Unit]) -> bool:
        """False when a unit lost its fence: then each is done behind a savepoint of its own, which costs more."""
        try:
            for unit in group:
                unit.result = unit.work(db)
        except Exception as error:
            if unavailable(error, self._where) is not None:
                raise
            return False
        return True

    def _carry_out(self, db: sqlite3.Connection, unit: Unit) -> None:
        db.execute("SAVEPOINT unit")
        try:
            unit.result = unit.work(db)
        except Exception as error:
            if unavailable(error, self._where) is not None:
                raise
            unit.error = error
            db.execute("ROLLBACK TO unit")
        db.execute("RELEASE unit")

    def _take_back(self) -> None:
        """Undoes the group, and lets go of a connection that may have seen what is no longer true."""
        if self._db is None:
            return
        with suppress(sqlite3.Error):  # closing rolls back as well
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        if self._connect is not None:
            self._db.close()
            self._db = None

    def _answer(self, group: list[Unit]) -> None:
        for loop in {unit.loop for unit in group}:
            told = [unit for unit in group if unit.loop is loop]
            try:
                loop.call_soon_threadsafe(_settle_all, told)
            except RuntimeError:  # the loop has ended, and with it whoever waited
                continue


def _settle_all(units: list[Unit]) -> None:
    for unit in units:
        unit.settle()
