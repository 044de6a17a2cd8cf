"""The server in this process: a socket that is bound before anything starts, then the guard, then uvicorn."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Generator
from contextlib import suppress

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from rejoinder.blobs import Quota
from rejoinder.channels.web import UPLOAD_LIMIT
from rejoinder.channels.web.sockets import GOING_AWAY
from rejoinder.errors import StoreUnavailable
from rejoinder.listener import ConnectionLimits, Listener, OpenConnections, limits_here, quiet
from rejoinder.web import api, chat, console, incoming, mcp_route, pages
from rejoinder.web.access_check import AccessCheck
from rejoinder.web.addresses import Addresses
from rejoinder.web.flow import Flow
from rejoinder.web.guard import Guard
from rejoinder.web.login import Login
from rejoinder.web.metrics import Metrics
from rejoinder.web.refusal import refuse
from rejoinder.web.services import PageServices
from rejoinder.web.v1 import answering

log = logging.getLogger(__name__)

LARGEST_BODY = 4 << 20
LARGEST_FRAME = 2 << 20  # room for the longest text with every letter escaped
GRACE = 3
TICKS_A_SECOND = 10
"""How often uvicorn's main loop runs."""
NEWS_SECONDS = 1.0
UNLIMITED = Quota(2**62, 2**62)
OWN_NAMES = ("localhost",)


def address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


class Pages:
    """Everything that is served, made from the gateway's services."""

    def __init__(
        self,
        services: PageServices,
        login: Login,
        hosts: tuple[str, ...] = (),
        *,
        proxies: tuple[str, ...] = (),
        quota: Quota = UNLIMITED,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.up = asyncio.Event()
        """Set when browsers can connect."""
        self.metrics = Metrics()
        self.flow = Flow(services, self.metrics)
        addresses = Addresses(proxies)
        self._connections = OpenConnections(limits or limits_here(), addresses.is_proxy)
        own: dict[str, Callable[[str], str | None]] = {incoming.PATH: services.programs.name_of}
        if services.tools is not None:
            own[mcp_route.PATH] = services.tools.session_of
        entrance = AccessCheck(login, addresses, own)
        routes = [
            *pages.routes(services, entrance, self.metrics),
            *chat.routes(services, quota),
            *console.routes(services, self.flow),
            *answering.routes(services),
            *api.routes(services, self.flow),
            *mcp_route.routes(services),
        ]
        app = Starlette(
            routes=routes,
            exception_handlers={Exception: _failed, HTTPException: _refused, StoreUnavailable: _unavailable},
        )
        self._services = services
        self._login = login
        self._server: _Server | None = None
        self.app = Guard(app, entrance, (*OWN_NAMES, *hosts), _limit, self._connections)

    @property
    def hooks(self) -> dict[str, object]:
        """The functions that the gateway calls, by the name of the event."""
        flow = self.flow
        return {
            "message_received": flow.received,
            "message_decided": flow.decided,
            "reply_started": flow.started,
            "reply_sent": flow.sent,
            "job_ticked": flow.ticked,
            "turn_ended": flow.turn_ended,
            "session_started": flow.session_started,
            "session_ended": flow.session_ended,
        }

    async def serve(self, listening: socket.socket) -> None:
        """Runs until `stop`."""
        config = uvicorn.Config(
            self.app,
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            http="h11",
            ws="websockets-sansio",
            ws_max_size=LARGEST_FRAME,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=GRACE,
        )
        self._server = _Server(config, self.up, self._opened(listening))
        with quiet("uvicorn.error"):
            await self._server.serve(sockets=[])

    def _opened(self, listening: socket.socket) -> Callable[[Callable[[], asyncio.Protocol]], Listener]:
        return lambda protocol: Listener("The page", listening, protocol, self._services.start, self._connections)

    async def know_logins(self) -> None:
        """Reads the invitations again every second, because `rejoinder pair` changes them, too."""
        while True:
            await asyncio.sleep(NEWS_SECONDS)
            with suppress(StoreUnavailable):
                await self.refresh_logins()

    async def refresh_logins(self) -> None:
        """Disconnects people whose login has ended."""
        for person in self._login.know(await self._services.channel.journal.invited()):
            self._services.channel.hub.show_out(person)

    def stop(self) -> None:
        """Tells browsers to come back later, then ends the connections."""
        self._services.channel.hub.close()
        for connection in self.flow.watching:
            connection.close(GOING_AWAY)
        if self._server is not None:
            self._server.should_exit = True


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, up: asyncio.Event, listener: Callable[[Callable[[], asyncio.Protocol]], Listener]
    ) -> None:
        super().__init__(config)
        self._up = up
        self._listener = listener(self._protocol)

    def _protocol(self) -> asyncio.Protocol:
        return H11Protocol(self.config, self.server_state, self.lifespan.state)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listener.open()
        self._up.set()

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS_A_SECOND == 0:
            self._listener.watch()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._listener.close()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Does nothing: the gateway handles signals, and `stop` ends the server."""
        yield


def _limit(path: str) -> int:
    """The limit of a body at this path: higher for files and images."""
    if path == incoming.PATH:
        return incoming.LARGEST
    return UPLOAD_LIMIT if path == "/files" or path.startswith("/v1/") else LARGEST_BODY


async def _failed(request: Request, problem: Exception) -> Response:
    if isinstance(problem, ClientDisconnect):  # the client is gone, and nothing has failed
        return Response(status_code=400)
    log.error("%s %s failed", request.method, request.url.path, exc_info=problem)
    return refuse(request.url.path, 500, "something failed here; the log says what")


async def _unavailable(request: Request, problem: Exception) -> Response:
    return refuse(request.url.path, 503, str(problem))


async def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    if problem.status_code == 404:
        return pages.not_found(request)
    return refuse(request.url.path, problem.status_code, problem.detail, problem.headers)
