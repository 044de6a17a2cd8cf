"""The reads for each message, on the event loop. Reads that are requested together share one transaction and are under
way at the same time. A handover to a thread would take longer than the answer.

After any error here, a thread tries again with a connection of its own and reports the error.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import psycopg

from rejoinder.store.postgresql.connection import Connection
from rejoinder.store.postgresql.fibers import FiberQueues, start, wait
from rejoinder.store.postgresql.pipelined import FailedStatement, Pipelined
from rejoinder.store.sql import lookups, reads, rooms
from rejoinder.store.sql.reader import SHORT

T = TypeVar("T")

AT_ONCE: Final = frozenset(
    {reads.undecided_events, reads.routes_to_send, reads.session, lookups.requested_reruns, rooms.fact}
)
"""Each of these is one statement, or reads on from page to page; it needs no transaction if it runs alone."""
ON_LOOP: Final = SHORT | AT_ONCE
BEGIN: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class ReadInThread(Exception):
    """Ask in a thread."""


class PendingRead:
    def __init__(self, question: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.question = question
        self.arguments = arguments
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def put(self, db: Pipelined) -> None:
        try:
            found = self.question(db, *self.arguments)
        except psycopg.Error:
            raise
        except Exception as error:  # noqa: BLE001 - the caller's own
            self.fail(error)
        else:
            if not self.answer.done():
                self.answer.set_result(found)

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class PipelinedReader:
    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._db: Pipelined | None = None
        self._queues = FiberQueues()
        self._asked: list[PendingRead] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: asyncio.Future[None] | None = None
        self._ended: asyncio.Future[None] | None = None
        self._closed = False

    async def ask(self, question: Callable[..., T], *arguments: Any) -> T:
        """Raises `ReadInThread` if the answer has to be read in another way."""
        if self._closed:
            raise ReadInThread
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
            self._ended = loop.create_future()
            loop.call_soon(start, self._run)
        elif self._loop is not loop:
            raise ReadInThread
        asked = PendingRead(question, arguments)
        self._asked.append(asked)
        self._wake()
        return await asked.answer

    async def close(self) -> None:
        self._closed = True
        self._wake()
        if self._ended is not None and self._loop is asyncio.get_running_loop():
            await self._ended

    def _wake(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    # --- in the fiber -------------------------------------------------------------------------------

    def _run(self) -> None:
        assert self._loop is not None, "it runs there"
        while self._asked or not self._closed:
            if not self._asked:
                self._idle = self._loop.create_future()
                wait(self._idle)
                continue
            together, self._asked = self._asked, []
            try:
                self._put(together)
            except (Exception, FailedStatement):  # noqa: BLE001 - the threads meet it too, and say it
                self._let_go()
                for each in together:
                    each.fail(ReadInThread())
        self._let_go()
        self._queues.close()
        if self._ended is not None:
            self._ended.set_result(None)

    def _put(self, together: list[PendingRead]) -> None:
        db = self._ready()
        in_one_view = any(each.question not in AT_ONCE for each in together)
        if in_one_view:
            db.begin(BEGIN)
        self._queues.run(([lambda each=each: each.put(db)] for each in together), db.round_trip)
        if in_one_view:
            db.execute("ROLLBACK")
            db.round_trip()

    def _ready(self) -> Pipelined:
        if self._db is None:
            assert self._loop is not None, "it runs there"
            before = wait(self._loop.run_in_executor(None, self._connect))
            self._db = Pipelined(before.db, self._loop)
            self._db.shards = before.shards
        return self._db

    def _let_go(self) -> None:
        if self._db is not None:
            with suppress(psycopg.Error):
                self._db.close()
        self._db = None
