"""`/mcp`: the gateway's tools for agents, over streamable HTTP. Loaded only if the package `mcp` is installed.

Each request is independent: the guard has found the session of its token, and the tools are those of the session's run.
"""

import asyncio
import logging
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from rejoinder.web.guard import HOLDER
from rejoinder.web.services import ToolProblem, Tools

logging.getLogger("mcp").setLevel(logging.WARNING)  # it logs two lines for each request


class ToolServer:
    def __init__(self, tools: Tools, version: str) -> None:
        self._tools = tools
        server: Server[Any] = Server("rejoinder", version=version, on_list_tools=self._list, on_call_tool=self._call)
        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

        self.up = asyncio.Event()

    async def run(self) -> None:
        """Runs until it is cancelled."""
        async with self._manager.run():
            self.up.set()
            await asyncio.Event().wait()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)

    async def _list(self, _: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        listed = [
            types.Tool(name=each.name, description=each.help, input_schema=each.schema) for each in self._tools.listed
        ]
        return types.ListToolsResult(tools=listed)

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        session = context.request.scope[HOLDER]
        try:
            text, failed = await self._tools.call(session, params.name, params.arguments or {}), False
        except ToolProblem as problem:
            text, failed = str(problem), True
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)
