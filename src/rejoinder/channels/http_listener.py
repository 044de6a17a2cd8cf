"""Listens for a channel whose platform calls us. Anybody can reach it, so slow and idle connections are closed, and
their number is limited.

A caller on this machine is taken for a proxy, and may use all connections.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from msgspec import Struct

from rejoinder.addresses import is_this_machine
from rejoinder.errors import ChannelStopped
from rejoinder.listener import ConnectionLimits, Listener, OpenConnections, limits_here, quiet

MOST_BYTES = 1_000_000
BODY_SECONDS = 20.0
LIMITS, SHARE = ConnectionLimits(in_all=128), 8
"""Platforms open at most 100 connections; the page needs more of the file descriptors."""
TICK = 1.0

Take = Callable[[web.Request], Awaitable[web.Response]]


class Address(Struct, frozen=True):
    """Where to listen. `keys`: the settings that name the address, for the error that says it is in use."""

    host: str
    port: int
    path: str
    keys: str


class HttpListener:
    """Accepts connections one at a time."""

    def __init__(self, listening: socket.socket, server: web.Server, connections: OpenConnections) -> None:
        self._connections = connections
        self._coming: asyncio.Queue[Coroutine[Any, Any, None] | None] = asyncio.Queue()
        self._listener = Listener("The webhook", listening, server, self._start, connections)
        self._listener.open()

    async def attend(self) -> None:
        """Runs until `close`."""
        while True:
            try:
                async with asyncio.timeout(TICK):
                    connecting = await self._coming.get()
            except TimeoutError:
                pass
            else:
                if connecting is None:
                    return
                await connecting
            self._listener.watch()

    def close(self) -> None:
        self._listener.close()
        while not self._coming.empty():
            if (connecting := self._coming.get_nowait()) is not None:
                connecting.close()
        self._connections.close_unconnected()
        self._coming.put_nowait(None)

    def _start(self, name: str, connecting: Coroutine[Any, Any, None]) -> None:
        self._coming.put_nowait(connecting)


@asynccontextmanager
async def listening(address: Address, take: Take) -> AsyncGenerator[HttpListener]:
    """`take` answers each request; the body has not been read yet, so a caller can be refused before that."""
    connections = OpenConnections(limits_here(LIMITS, SHARE), is_this_machine)

    async def counted(request: web.Request) -> web.Response:
        with connections.at_work(_peer(request)):
            return await take(request)

    app = web.Application(client_max_size=MOST_BYTES)
    app.router.add_post(address.path, counted)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    assert runner.server is not None
    with quiet("aiohttp.server"), _bound(address) as bound:
        listener = HttpListener(bound, runner.server, connections)
        try:
            yield listener
        finally:
            listener.close()
            await runner.cleanup()


async def body_of(request: web.Request) -> bytes:
    """Reads a body; if it is too large or takes too long, raises the HTTP answer that says so."""
    if (request.content_length or 0) > MOST_BYTES:
        raise web.HTTPRequestEntityTooLarge(MOST_BYTES, request.content_length or 0)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout from None


def _peer(request: web.Request) -> tuple[str, int] | None:
    found = request.transport.get_extra_info("peername") if request.transport is not None else None
    return (found[0], found[1]) if found else None


def _bound(address: Address) -> socket.socket:
    try:
        listening = socket.create_server(
            (address.host, address.port), family=socket.AF_INET6 if ":" in address.host else socket.AF_INET
        )
    except OSError as problem:
        raise ChannelStopped(
            f"The webhook cannot listen on {address.host}:{address.port} ({problem.strerror}). "
            f"Set {address.keys} to a free address of this machine."
        ) from None
    listening.setblocking(False)
    return listening
