"""The MCP servers that an agent should use, `mcp_servers`, in the form of the protocol. Pure."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

from rejoinder.keys import Text, Url
from rejoinder.secret import Secret


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A server of tools that the agent connects to by itself: a program, or an address."""

    command: tuple[Text, ...] = ()
    """The program and its arguments, for a server that is started here and speaks on its standard input and output."""
    env: dict[str, Secret] = {}
    """Environment variables that it gets."""
    url: Url | None = None
    """The address, for a server over HTTP."""
    headers: dict[str, Secret] = {}
    """Headers to send to it: `{ Authorization = "Bearer ${TOKEN}" }`."""
    transport: Literal["http", "sse"] = "http"
    """The transport that the server at this address uses."""


def described(servers: Mapping[str, McpServer]) -> tuple[dict[str, Any], ...]:
    return tuple(_described(name, server) for name, server in servers.items())


OURS = "rejoinder"
"""The name of the server with the gateway's own tools."""
MCP_URL, MCP_TOKEN = "REJOINDER_MCP_URL", "REJOINDER_MCP_TOKEN"
"""Where `rejoinder mcp` finds them in its environment."""
_PROGRAM = "from rejoinder.cli import main; main()"


def our_server(url: str, token: str, *, over_http: bool) -> dict[str, Any]:
    """The gateway's tools; for an agent without HTTP by way of `rejoinder mcp`."""
    if over_http:
        headers = [{"name": "Authorization", "value": f"Bearer {token}"}]
        return {"type": "http", "name": OURS, "url": url, "headers": headers}
    env = [{"name": MCP_URL, "value": url}, {"name": MCP_TOKEN, "value": token}]
    return {"name": OURS, "command": sys.executable, "args": ["-c", _PROGRAM, "mcp"], "env": env}


def _described(name: str, server: McpServer) -> dict[str, Any]:
    if server.url is not None:
        return {"type": server.transport, "name": name, "url": server.url, "headers": _pairs(server.headers.items())}
    program, *arguments = server.command
    return {"name": name, "command": program, "args": arguments, "env": _pairs(server.env.items())}


def _pairs(values: Iterable[tuple[str, Secret]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value.reveal()} for name, value in values]
