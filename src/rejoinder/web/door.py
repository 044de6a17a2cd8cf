"""The door of the server: lets connections in, and puts out those that only take up room.

Rule 1: a connection that waits for its request has ten seconds to say it. So has one that wants the next request.
Rule 2: one address has so many connections, and all together so many. Where it is full, the connection that has waited
        longest without a request makes room; if all are at work, the new one is refused.
Rule 3: at most half of the process's file descriptors are used here; the rest belong to channels, agents and the store.
Rule 4: what goes wrong at the door costs one line of the log in a minute, whatever happens there.
"""

import asyncio
import errno
import logging
import resource
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from typing import Any, cast

from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol

from rejoinder.bounded import Bounded
from rejoinder.web.addresses import Addresses, counted

log = logging.getLogger(__name__)

HEADER_SECONDS = 10.0
MOST_ACCEPTED = 64
"""Connections taken at once, before others have their turn."""
PAUSE = 1.0
"""Seconds without new connections when the system has no room for one."""
QUIET = 60.0
MOST_SENTENCES = 100
FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 10\r\nContent-Length: 0\r\n\r\n"
NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

Start = Callable[[str, Coroutine[Any, Any, None]], object]


class Room(Struct, frozen=True):
    """How many connections there may be."""

    per_address: int = 64
    in_all: int = 512


def room_here() -> Room:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = Room()
    return room if soft == resource.RLIM_INFINITY else Room(room.per_address, max(8, min(room.in_all, soft // 2)))


class Seat:
    """One connection. `cycle` tells one request of it from the next."""

    def __init__(self, sock: socket.socket, address: str, now: float) -> None:
        self.sock = sock
        self.address = address
        self.since = now
        self.transport: asyncio.Transport | None = None
        self._cycle: object = None

    @property
    def taken(self) -> bool:
        return self.sock.fileno() != -1

    def waits(self, now: float) -> bool:
        """Whether no request is at work on it. `since` is when that began."""
        if self.transport is None:
            return False
        if self.transport.is_closing():
            return True
        protocol = self.transport.get_protocol()
        if not isinstance(protocol, H11Protocol):  # a WebSocket, which pings
            return False
        cycle = cast(Any, protocol.cycle)
        if cycle is not self._cycle:
            self._cycle, self.since = cycle, now
        if cycle is not None and not cycle.response_complete:
            self.since = now
            return False
        return True

    def leave(self) -> None:
        if self.transport is not None:
            self.transport.abort()


class Door:
    """`protocol` makes the server's side of a connection."""

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        start: Start,
        addresses: Addresses,
        room: Room,
    ) -> None:
        self._listening = listening
        self._protocol = protocol
        self._start = start
        self._addresses = addresses
        self._room = room
        self._loop = asyncio.get_running_loop()
        self._seats: list[Seat] = []
        self._refused: Counter[str] = Counter()
        self._told = float("-inf")
        self._pause: asyncio.TimerHandle | None = None

    def open(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listening.fileno(), self._accept)

    def close(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
        with suppress(ValueError, OSError):  # it may be closed already
            self._loop.remove_reader(self._listening.fileno())

    def watch(self) -> None:
        """To be called each second."""
        now = self._loop.time()
        self._seats = [seat for seat in self._seats if seat.taken]
        for seat in self._seats:
            if seat.waits(now) and now - seat.since > HEADER_SECONDS:
                seat.leave()
        if self._refused and now - self._told > QUIET:
            address, most = self._refused.most_common(1)[0]
            count = self._refused.total()
            log.warning("The page refused %d connections for want of room, %d of them from %s.", count, most, address)
            self._refused.clear()
            self._told = now

    def _accept(self) -> None:
        for _ in range(MOST_ACCEPTED):
            try:
                sock, peer = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as problem:
                return self._not_accepted(problem)
            sock.setblocking(False)
            self._seat(sock, str(peer[0]))

    def _not_accepted(self, problem: OSError) -> None:
        now = self._loop.time()
        if now - self._told > QUIET:
            log.error("The page cannot take a connection (%s); it goes on trying.", problem.strerror)
            self._told = now
        if problem.errno in NO_ROOM:
            self._loop.remove_reader(self._listening.fileno())
            self._pause = self._loop.call_later(PAUSE, self.open)

    def _seat(self, sock: socket.socket, peer: str) -> None:
        address = counted(peer)
        if not self._has_room(address, self._addresses.is_proxy(peer)):
            self._refused[address] += 1
            with sock, suppress(OSError):
                sock.send(FULL)
            return
        seat = Seat(sock, address, self._loop.time())
        self._seats.append(seat)
        self._start("connection", self._connect(seat))

    def _has_room(self, address: str, is_proxy: bool) -> bool:
        """Makes room where somebody only waits. A proxy has as many connections as it needs: the guard counts whom it
        serves."""
        if len(self._seats) >= min(self._room.in_all, self._room.per_address):
            self._seats = [seat for seat in self._seats if seat.taken]
        same = [] if is_proxy else [seat for seat in self._seats if seat.address == address]
        if len(same) >= self._room.per_address:
            return self._make_room(same)
        return len(self._seats) < self._room.in_all or self._make_room(self._seats)

    def _make_room(self, seats: list[Seat]) -> bool:
        now = self._loop.time()
        waiting = [seat for seat in seats if seat.waits(now)]
        if not waiting:
            return False
        longest = min(waiting, key=lambda seat: seat.since)
        longest.leave()
        self._seats.remove(longest)
        self._refused[longest.address] += 1
        return True

    async def _connect(self, seat: Seat) -> None:
        with suppress(OSError):  # it was gone before it began
            transport, _ = await self._loop.connect_accepted_socket(self._protocol, seat.sock)
            seat.transport = transport


class _OncePerMinute(logging.Filter):
    """Says the same sentence once in a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._said: Bounded[str, float] = Bounded(MOST_SENTENCES)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.created - self._said.get(str(record.msg), float("-inf")) < QUIET:
            return False
        self._said.renew(str(record.msg), record.created)
        return True


@contextmanager
def quiet(logger: str) -> Generator[None]:
    """What anybody can make the server complain about fills no disk."""
    kept = _OncePerMinute()
    logging.getLogger(logger).addFilter(kept)
    try:
        yield
    finally:
        logging.getLogger(logger).removeFilter(kept)
