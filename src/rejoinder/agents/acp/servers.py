"""The MCP servers an agent is to use, `mcp_servers`, in the words of the protocol. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

from rejoinder.keys import Text, Url
from rejoinder.secret import Secret


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A server of tools that the agent connects to by itself: a program, or an address."""

    command: tuple[Text, ...] = ()
    """The program and its arguments, for a server on pipes."""
    env: dict[str, Secret] = {}
    """Environment variables it is given."""
    url: Url | None = None
    """The address, for a server over HTTP."""
    headers: dict[str, Secret] = {}
    """Headers it is sent: `{ Authorization = "Bearer ${TOKEN}" }`."""
    transport: Literal["http", "sse"] = "http"
    """How it is spoken to at its address."""


def described(servers: Mapping[str, McpServer]) -> tuple[dict[str, Any], ...]:
    return tuple(_described(name, server) for name, server in servers.items())


def _described(name: str, server: McpServer) -> dict[str, Any]:
    if server.url is not None:
        return {"type": server.transport, "name": name, "url": server.url, "headers": _pairs(server.headers.items())}
    program, *arguments = server.command
    return {"name": name, "command": program, "args": arguments, "env": _pairs(server.env.items())}


def _pairs(values: Iterable[tuple[str, Secret]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value.reveal()} for name, value in values]
