"""Accepts the connections of a server, and closes those that only take up room.

Rule 1: a connection has ten seconds to send its request, and again for each further request. Code that answers requests
        marks with `OpenConnections.at_work` when one begins and ends.
Rule 2: there is a limit for one address, and one for all together. At a limit, the connection that has waited longest
        without a request is closed to make room; if all are at work, the new one is refused.
Rule 3: servers use a part of the process's file descriptors; the rest belong to channels, agents and the store.
Rule 4: whatever goes wrong here, the log gets at most one line about it in a minute.
"""

import asyncio
import errno
import logging
import resource
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct

from rejoinder.addresses import counted
from rejoinder.bounded import Bounded

log = logging.getLogger(__name__)

HEADER_SECONDS = 10.0
MOST_ACCEPTED = 64
"""Connections accepted in one go, before other tasks get their turn."""
PAUSE = 1.0
"""Seconds for which no connections are accepted after the system had no room for one."""
QUIET = 60.0
MOST_SENTENCES = 100
FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 10\r\nContent-Length: 0\r\n\r\n"
NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

Start = Callable[[str, Coroutine[Any, Any, None]], object]


class ConnectionLimits(Struct, frozen=True):
    """The most connections there may be."""

    per_address: int = 64
    in_all: int = 512


USUAL_LIMITS = ConnectionLimits()


def limits_here(limits: ConnectionLimits = USUAL_LIMITS, share: int = 2) -> ConnectionLimits:
    """These limits, lowered if 1/`share` of the process's file descriptors is not enough for them."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return limits
    return ConnectionLimits(limits.per_address, max(8, min(limits.in_all, soft // share)))


class OpenConnection:
    """One connection."""

    def __init__(self, sock: socket.socket, address: str, now: float) -> None:
        self.sock = sock
        self.address = address
        self.since = now
        """When a request was last at work on it."""
        self.requests = 0
        self.transport: asyncio.Transport | None = None

    @property
    def taken(self) -> bool:
        return self.sock.fileno() != -1

    @property
    def waits(self) -> bool:
        """Whether no request is at work on it."""
        return self.transport is not None and (not self.requests or self.transport.is_closing())

    def close(self) -> None:
        if self.transport is not None:
            self.transport.abort()


class OpenConnections:
    """The open connections. A proxy may have as many as it needs: the clients behind it are counted elsewhere."""

    def __init__(self, limits: ConnectionLimits, is_proxy: Callable[[str], bool]) -> None:
        self.limits = limits
        self.refused: Counter[str] = Counter()
        self._is_proxy = is_proxy
        self._open: dict[tuple[str, int], OpenConnection] = {}

    def give(self, sock: socket.socket, peer: tuple[str, int], now: float) -> OpenConnection | None:
        """None if there is no room, even after closing a connection that only waits."""
        address = counted(peer[0])
        if not self._has_room(address, self._is_proxy(peer[0])):
            self.refused[address] += 1
            return None
        self._open.pop(peer, None)  # belongs to a connection that has ended
        self._open[peer] = connection = OpenConnection(sock, address, now)
        return connection

    @contextmanager
    def at_work(self, peer: tuple[str, int] | None) -> Generator[None]:
        """Marks the connection of this peer as at work for the duration of the block."""
        connection = self._open.get(peer) if peer is not None else None
        if connection is None:
            yield
            return
        connection.requests += 1
        try:
            yield
        finally:
            connection.requests -= 1
            connection.since = asyncio.get_running_loop().time()

    def close_idle(self, now: float) -> None:
        self._forget_gone()
        for connection in self._open.values():
            if connection.waits and now - connection.since > HEADER_SECONDS:
                connection.close()

    def close_unconnected(self) -> None:
        """Called when the listener closes: nobody else would close the sockets that were admitted but have no
        connection yet."""
        for connection in self._open.values():
            if connection.transport is None:
                connection.sock.close()

    def _forget_gone(self) -> None:
        self._open = {peer: connection for peer, connection in self._open.items() if connection.taken}

    def _has_room(self, address: str, is_proxy: bool) -> bool:
        if len(self._open) >= min(self.limits.in_all, self.limits.per_address):
            self._forget_gone()
        same = [] if is_proxy else [connection for connection in self._open.values() if connection.address == address]
        if len(same) >= self.limits.per_address:
            return self._make_room(same)
        return len(self._open) < self.limits.in_all or self._make_room(self._open.values())

    def _make_room(self, connections: Iterable[OpenConnection]) -> bool:
        longest = min(
            (connection for connection in connections if connection.waits),
            key=lambda connection: connection.since,
            default=None,
        )
        if longest is None:
            return False
        longest.close()
        self._open = {peer: connection for peer, connection in self._open.items() if connection is not longest}
        self.refused[longest.address] += 1
        return True


class Listener:
    """`server` is its name in the log; `protocol` makes the server's side of a connection."""

    def __init__(
        self,
        server: str,
        listening: socket.socket,
        protocol: Callable[[], asyncio.BaseProtocol],
        start: Start,
        connections: OpenConnections,
    ) -> None:
        self._server = server
        self._listening = listening
        self._protocol = protocol
        self._start = start
        self._open = connections
        self._loop = asyncio.get_running_loop()
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
        """Call this every second."""
        now = self._loop.time()
        self._open.close_idle(now)
        if (refused := self._open.refused) and now - self._told > QUIET:
            address, most = refused.most_common(1)[0]
            log.warning(
                "%s refused %d connections, as too many were open; %d came from %s.",
                self._server,
                refused.total(),
                most,
                address,
            )
            refused.clear()
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
            self._admit(sock, (str(peer[0]), int(peer[1])))

    def _not_accepted(self, problem: OSError) -> None:
        now = self._loop.time()
        if now - self._told > QUIET:
            log.error("%s cannot accept a connection (%s); it keeps trying.", self._server, problem.strerror)
            self._told = now
        if problem.errno in NO_ROOM:
            self._loop.remove_reader(self._listening.fileno())
            self._pause = self._loop.call_later(PAUSE, self.open)

    def _admit(self, sock: socket.socket, peer: tuple[str, int]) -> None:
        connection = self._open.give(sock, peer, self._loop.time())
        if connection is not None:
            self._start("connection", self._connect(connection))
            return
        with sock, suppress(OSError):
            sock.send(FULL)

    async def _connect(self, connection: OpenConnection) -> None:
        with suppress(OSError):  # it was gone before it began
            transport, _ = await self._loop.connect_accepted_socket(self._protocol, connection.sock)
            connection.transport = transport


class _OncePerMinute(logging.Filter):
    """Lets the same sentence through once a minute."""

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
    """Limits the complaints that anybody can provoke from the server, so that they cannot fill the disk."""
    kept = _OncePerMinute()
    logging.getLogger(logger).addFilter(kept)
    try:
        yield
    finally:
        logging.getLogger(logger).removeFilter(kept)
