"""`rejoinder mcp`: the gateway's tools on pipes, for agents without HTTP."""

import asyncio


def mcp() -> None:
    """The gateway's tools for an agent that speaks MCP on its pipes; the gateway starts it."""
    from rejoinder.programs.tool_bridge import bridge

    asyncio.run(bridge())
