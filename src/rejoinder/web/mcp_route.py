"""The route `/mcp`. The package behind it takes a second to import, so it is loaded with the first request."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from rejoinder.web.services import PageServices, Tools

if TYPE_CHECKING:
    from rejoinder.web.mcp import ToolServer

PATH = "/mcp"


def routes(services: PageServices) -> list[BaseRoute]:
    if services.tools is None:
        return []
    # No GET: the server sends nothing unasked, and a stream would outlive the run whose token opened it.
    return [Route(PATH, _Mcp(services, services.tools), methods=["POST"])]


class _Mcp:
    """An object, not a function, so that a route treats it as an application."""

    def __init__(self, services: PageServices, tools: Tools) -> None:
        self._services = services
        self._tools = tools
        self._server: ToolServer | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._ready()).handle(scope, receive, send)

    async def _ready(self) -> "ToolServer":
        async with self._loading:
            if self._server is None:
                module = await asyncio.to_thread(import_module, "rejoinder.web.mcp")
                server: ToolServer = module.ToolServer(self._tools, self._services.version)
                self._services.start("mcp", server.run())
                await server.up.wait()
                self._server = server
            return self._server
