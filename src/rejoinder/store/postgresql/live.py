"""Sends live updates to other processes, by notifications alone (SC-14).

Rule 1: it has a thread and a connection of its own, so that no message or lease waits for it.
Rule 2: a statement that notifies writes nothing, so there is no disk to wait for.
Rule 3: an update that cannot be sent now is not sent later.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

import psycopg

from rejoinder.errors import StoreUnavailable
from rejoinder.store.postgresql.connection import Connection
from rejoinder.store.postgresql.faults import fault_in
from rejoinder.store.postgresql.listening import LIVE

log = logging.getLogger(__name__)

MOST_BYTES: Final = 7_999
"""The longest notification; the server refuses longer ones."""


class LiveNotifier:
    def __init__(self, where: str, connect: Callable[[], Connection], origin: str) -> None:
        self._where = where
        self._connect = connect
        self._origin = origin
        self._thread: ThreadPoolExecutor | None = None
        self._db: Connection | None = None

    async def tell(self, channel: str, said: tuple[str, ...]) -> None:
        payloads = [f"{self._origin} {channel}\n{each}" for each in said]
        fitting = [each for each in payloads if len(each.encode()) <= MOST_BYTES]
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="rejoinder-store-live")
        if fitting:
            await asyncio.wrap_future(self._thread.submit(self._notify, fitting))

    def _notify(self, payloads: list[str]) -> None:
        try:
            with fault_in(self._where):
                try:
                    if self._db is None:
                        self._db = self._connect()
                    self._db.executemany("SELECT pg_notify(?, ?)", [(LIVE, each) for each in payloads])
                except psycopg.OperationalError:
                    self._end()
                    raise
        except StoreUnavailable as fault:
            log.debug("skipped for now: %s", fault)  # the writer meets the same fault and logs it

    def _end(self) -> None:
        if self._db is not None:
            with suppress(psycopg.Error):
                self._db.close()
        self._db = None

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown()
        self._end()
