"""`rejoinder mcp`: the gateway's tools on pipes, for agents without HTTP."""

import asyncio


def mcp() -> None:
    """Offer the gateway's tools to an agent over MCP on stdin and stdout; agents start it, not people."""
    from rejoinder.programs.tool_bridge import bridge

    asyncio.run(bridge())
