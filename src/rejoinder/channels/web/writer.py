"""One thread owns the file. All changes that wait are written in one transaction, with one wait for the disk.

Rule 1: a change is not announced before it is on disk.
Rule 2: changes are announced on the event loop in the order of their commits, and a question on the same queue is
        answered between two of them: no event is lost between the answer and the next announcement.
"""

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from rejoinder.channels.web.schema import SETTINGS, prepare
from rejoinder.sqlite_faults import unavailable

T = TypeVar("T")

MOST_AT_ONCE = 256


def connect(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    try:
        for setting in SETTINGS:
            db.execute(setting)
        prepare(db, path)
    except BaseException:
        db.close()
        raise
    return db


class PendingWrite:
    """Queued work, the future of the caller that waits for it, and what the loop does with the result before that."""

    def __init__(
        self, work: Callable[[], Any], then: Callable[[Any], None] | None, done: "asyncio.Future[Any]"
    ) -> None:
        self.work = work
        self.then = then
        self.done = done
        self.result: Any = None
        self.problem: Exception | None = None

    def settle(self) -> None:
        if self.problem is None and self.then is not None:
            self.then(self.result)
        if self.done.cancelled():
            return
        if self.problem is not None:
            self.done.set_exception(self.problem)
        else:
            self.done.set_result(self.result)


class Writer:
    def __init__(self, db: sqlite3.Connection, path: str) -> None:
        self._db = db
        self._path = path
        self._line: queue.SimpleQueue[PendingWrite | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="rejoinder-web-journal", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[], T], then: Callable[[T], None] | None = None) -> T:
        """Returns when it is on disk. If the caller is cancelled, the work is still done and `then` still called."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._line.put(PendingWrite(work, then, done))
        return await done

    def close(self) -> None:
        self._line.put(None)
        self._thread.join()
        self._db.close()

    def _work(self) -> None:
        while (first := self._line.get()) is not None:
            units = [first]
            ends = False
            with contextlib.suppress(queue.Empty):
                while len(units) < MOST_AT_ONCE:
                    if (unit := self._line.get_nowait()) is None:
                        ends = True
                        break
                    units.append(unit)
            self._commit(units)
            self._tell(units)
            if ends:
                return

    def _commit(self, units: list[PendingWrite]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for unit in units:
                self._perform(unit)
            self._db.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - handed to all callers that wait
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            for unit in units:
                unit.problem = unavailable(error, self._path) or error

    def _perform(self, unit: PendingWrite) -> None:
        """A unit that fails is rolled back alone; if the disk fails, all units fail."""
        self._db.execute("SAVEPOINT one")
        try:
            unit.result = unit.work()
        except Exception as problem:
            if unavailable(problem, self._path) is not None:
                raise
            unit.problem = problem
            self._db.execute("ROLLBACK TO one")
        self._db.execute("RELEASE one")

    @staticmethod
    def _tell(units: list[PendingWrite]) -> None:
        def settle() -> None:
            for unit in units:
                unit.settle()

        with contextlib.suppress(RuntimeError):  # the loop is gone, and with it the callers
            units[0].done.get_loop().call_soon_threadsafe(settle)
