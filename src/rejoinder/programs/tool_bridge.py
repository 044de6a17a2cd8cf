"""The work of `rejoinder mcp`: offers the gateway's tools on pipes, to an agent that speaks MCP but not HTTP.

It has no tools itself: it passes every call on to the running gateway, with the token of the agent's session.
"""

import os
from typing import Any

from rejoinder.agents.acp.servers import MCP_TOKEN, MCP_URL
from rejoinder.errors import BadUse
from rejoinder.extras import how_to_install

UNSET = (
    f"{MCP_URL} and {MCP_TOKEN} are not set. The gateway gives them to the agents it starts; this command is for those "
    "agents, not for people"
)


async def bridge() -> None:
    """Runs until its standard input ends."""
    url, token = os.environ.get(MCP_URL), os.environ.get(MCP_TOKEN)
    if not url or not token:
        raise BadUse(UNSET)
    try:
        import httpx2  # noqa: PLC0415 - an extra
        from mcp import ClientSession, types  # noqa: PLC0415
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415
        from mcp.server.lowlevel import Server  # noqa: PLC0415
        from mcp.server.stdio import stdio_server  # noqa: PLC0415
    except ImportError:
        raise BadUse(f"this needs the package mcp: {how_to_install('mcp')}") from None

    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=None) as http,
        streamable_http_client(url, http_client=http) as (reading, writing, *_),
        ClientSession(reading, writing) as gateway,
    ):
        begun = False

        async def ready() -> ClientSession:
            nonlocal begun
            if not begun:  # only with the first request, because the token is valid only during a run
                await gateway.initialize()
                begun = True
            return gateway

        async def listed(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
            return await (await ready()).list_tools()

        async def called(_: Any, params: types.CallToolRequestParams) -> Any:
            return await (await ready()).call_tool(params.name, params.arguments or {})

        server: Server[Any] = Server("rejoinder", on_list_tools=listed, on_call_tool=called)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
