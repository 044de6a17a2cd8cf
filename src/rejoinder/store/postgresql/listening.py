"""Learns from the database what other processes have written: LISTEN and NOTIFY on one connection (SC-12).

Rule 1: a notification says which shards to look at, and who has written; the writer itself is not notified.
        Notifications may be lost, so listeners also look from time to time.
Rule 2: the connection shows that a gateway runs here, by a lock that gateways share. The server frees it when the
        connection ends.
"""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from secrets import token_hex

import psycopg

from rejoinder.store.postgresql.connection import OURS, Connection
from rejoinder.store.sql.connection import SqlConnection

log = logging.getLogger(__name__)

CHANNEL = "rejoinder"
LIVE = "rejoinder_live"
"""For live updates: the sender, the channel of the gateway, and the update."""
RUNS = (OURS, 1_000_002)
"""The lock that all gateways on the store share."""
ACROSS = "across"
"""The origin of notifications between engines, which may be in the same process."""
LOOK_SECONDS = 5.0
PAUSE = 1.0
PATIENCE = 5.0

Told = Callable[[frozenset[int]], None]
ToldLive = Callable[[str, str], None]


def notify(db: SqlConnection, origin: str, shards: Iterable[int]) -> None:
    """Call this after the commit."""
    if told := ",".join(map(str, sorted(shards))):
        db.execute("SELECT pg_notify(?, ?)", (CHANNEL, f"{origin} {told}"))


class NotificationListener:
    def __init__(self, connect: Callable[[], Connection]) -> None:
        self.origin = token_hex(6)
        self.farewell = f"{self.origin}!"
        """The origin of the notification that ends the thread."""
        self._connect = connect
        self._told: list[tuple[asyncio.AbstractEventLoop, Told]] = []
        self._told_live: list[tuple[asyncio.AbstractEventLoop, ToldLive]] = []
        self._ends = threading.Event()
        self._listens = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, name="rejoinder-store-listening", daemon=True)
        self._thread.start()

    def tell(self, callback: Told) -> None:
        """Calls `callback` in this loop with the shards to which others have written; an empty set means any shard."""
        self._told.append((asyncio.get_running_loop(), callback))

    def tell_live(self, told: ToldLive) -> None:
        self._told_live.append((asyncio.get_running_loop(), told))

    def end(self) -> None:
        """Call this before the server is asked to send `farewell`."""
        self._ends.set()

    async def close(self) -> None:
        """Does not wait for a server that is gone."""
        self._ends.set()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._thread.join, PAUSE)
        with suppress(OSError):  # the thread is waiting for the server, which sends nothing
            if (waiting := self._socket) is not None:
                waiting.shutdown(socket.SHUT_RDWR)
        await loop.run_in_executor(None, self._thread.join)

    def wait(self) -> None:
        """Waits until others can see that a gateway runs here, for a few seconds at most."""
        self._listens.wait(PATIENCE)

    def _run(self) -> None:
        missed = False
        while not self._ends.is_set():
            try:
                db = self._connect()
                try:
                    self._introduce(db)
                    if missed:
                        self._say(frozenset())
                    self._listen(db)
                finally:
                    db.close()
            except (psycopg.Error, OSError) as error:  # the writer meets the same fault and logs it
                log.debug("skipped for now: %s", error)
            missed = True
            self._ends.wait(PAUSE)

    def _introduce(self, db: Connection) -> None:
        name = f"rejoinder {socket.gethostname()}:{os.getpid()}"
        db.execute("SELECT set_config('application_name', ?, false)", (name,))
        db.execute("SELECT pg_advisory_lock_shared(?, ?)", RUNS)
        db.execute(f"LISTEN {CHANNEL}")
        db.execute(f"LISTEN {LIVE}")
        self._listens.set()

    def _listen(self, db: Connection) -> None:
        self._socket = socket.socket(fileno=os.dup(db.db.fileno()))
        try:
            self._listen_on(db)
        finally:
            self._socket.close()
            self._socket = None

    def _listen_on(self, db: Connection) -> None:
        while not self._ends.is_set():
            shards: set[int] = set()
            for heard in db.db.notifies(timeout=LOOK_SECONDS, stop_after=1):
                origin, _, told = heard.payload.partition(" ")
                if heard.channel == LIVE:
                    self._say_live(origin, told)
                elif origin != self.origin:
                    shards.update(int(each) for each in told.split(",") if each.isdigit())
            if shards:
                self._say(frozenset(shards))
        db.execute("SELECT pg_advisory_unlock_all()")

    def _say_live(self, origin: str, told: str) -> None:
        channel, _, said = told.partition("\n")
        for loop, tell in tuple(self._told_live) if origin != self.origin else ():
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(tell, channel, said)

    def _say(self, shards: frozenset[int]) -> None:
        for loop, told in tuple(self._told):
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(told, shards)


def gateways(db: Connection) -> tuple[str, ...]:
    """The gateways that run on this database now."""
    sql = (
        "SELECT coalesce(a.application_name, 'unknown') FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
        "WHERE l.locktype = 'advisory' AND l.classid = ? AND l.objid = ? AND a.datname = current_database() ORDER BY 1"
    )
    return tuple(name.removeprefix("rejoinder ") for (name,) in db.execute(sql, RUNS))
