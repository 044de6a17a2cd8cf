"""The chat page as its own platform: rooms in the gateway's store, sockets that resume, a channel on top.

The pages and their server are in `rejoinder.web`; this package knows frames, not how they travel.
"""

import time
from collections.abc import Collection, Iterator
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from rejoinder.channels.base import FileLimits
from rejoinder.channels.declaration import ChannelKind, Setup
from rejoinder.errors import BadUse
from rejoinder.events import MenuCommand
from rejoinder.keys import Count, DirectAccess, GroupAccess, Network, Port, Text
from rejoinder.room_log import RoomLogReader
from rejoinder.secret import Secret
from rejoinder.setup import SetupQuestion

if TYPE_CHECKING:
    from rejoinder.channels.web.channel import WebChannel

UPLOAD_LIMIT = 20 << 20
FILES = FileLimits(2 << 30, album=20)
"""Limits for files that agents send; `gateway.max_file_mb` may lower them."""
SHORTEST_TOKEN = 12
"""The least number of characters of a token that other machines may try to guess."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat page and the console."""

    host: Text = "127.0.0.1"
    """The address to listen on; anything but loopback asks for a login token."""
    port: Port = 8765
    """The port to listen on; 0 takes a free one."""
    token: Secret | None = None
    """The login token; unset: if one is needed, it is made at the first start and printed once."""
    hosts: tuple[Text, ...] = ()
    """Names by which browsers reach the page, besides localhost and addresses: behind a proxy, its name."""
    trusted_proxies: Annotated[tuple[Network, ...], Meta(examples=[["127.0.0.1"]])] = ()
    """Addresses or networks of proxies whose `X-Forwarded-For` header is believed; with one, a login is needed on
    loopback too."""
    person_files_mb: Count = 1000
    """Megabytes of uploaded files that are kept for one person."""
    files_mb: Count = 10_000
    """Megabytes of uploaded files that are kept for all people together."""
    faces: dict[str, Text] = {}
    """The emoji of an agent, by its name; without one its initials are shown."""
    dm: DirectAccess = "open"
    """Who may write directly: everybody who may open the page."""
    groups: GroupAccess = "open"
    """Which rooms of the page are served."""
    require_mention: bool = False
    """In rooms the agent answers only when mentioned or replied to."""

    @property
    def is_exposed(self) -> bool:
        """Whether people can come from other machines; then they need a login."""
        return bool(self.trusted_proxies) or not _is_loopback(self.host)

    def problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        for index, proxy in enumerate(self.trusted_proxies):
            try:
                ip_network(proxy, strict=False)
            except ValueError as wrong:
                yield ("trusted_proxies", index), f"this is neither an address nor a network: {wrong}"
        if self.token is not None and len(self.token.reveal()) < SHORTEST_TOKEN and self.is_exposed:
            yield (
                ("token",),
                f"a token that other machines can guess at needs at least {SHORTEST_TOKEN} characters; leave it out, "
                "and a good one is made at the first start",
            )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def open_channel(
    name: str,
    settings: Settings,
    agents: tuple[str, ...] = (),
    wake: str = "lead",
    menu: tuple[MenuCommand, ...] = (),
) -> "WebChannel":
    """`agents`: all agents; several share a lobby. `wake`: which agents take a message that names none in a room. The
    page shows this and `menu`."""
    from rejoinder.channels.web.avatars import EVERYBODY, OWNER, agent_member  # noqa: PLC0415
    from rejoinder.channels.web.channel import WebChannel  # noqa: PLC0415 - reading the settings needs no journal

    if not agents:
        raise BadUse("the web channel needs an agent")
    if taken := {OWNER, EVERYBODY}.intersection(agents):
        raise BadUse(f"no agent of the chat page can be called {min(taken)!r}: that name is reserved there")
    members = tuple(agent_member(id, settings.faces.get(id, "")) for id in agents)
    return WebChannel(name, members, _milliseconds, wake, menu)


async def check(settings: Settings, running: str | None) -> str:
    """Checks whether the port is free."""
    from rejoinder.channels.web.port import bind  # noqa: PLC0415 - only here and by the server

    if running is not None:
        return f"a gateway is already running ({running}), so the port could not be checked"
    bind(settings.host, settings.port).close()
    return f"port {settings.port} of {settings.host} is free" if settings.port else "takes any free port"


async def chat_problem(log: RoomLogReader, chat: str, agents: Collection[str]) -> str:
    """Why there is no such room; empty if there is one, or may be."""
    from rejoinder.channels.web.journal import room_problem  # noqa: PLC0415 - reading the settings needs no journal

    return await room_problem(log, chat, agents)


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


CHANNEL = ChannelKind(
    settings=Settings,
    open=open_channel,
    voice="mp3",
    can=frozenset({"reply", "react", "send", "voice", "files", "ephemeral", "silent", "previews"}),
    files=FILES,
    delivery="native key",
    opened_by="page",
    by_default=True,
    only_one="there is one page",
    waits=dict.fromkeys(("agent", "agents"), "the page learns its agents when it starts"),
    setup=Setup(
        offer="Serve the chat page?",
        offered=True,
        asks=(SetupQuestion(key="port", question="Its port", default=8765, takes="number", most=65535),),
    ),
    chat_problem=chat_problem,
    check=check,
)
