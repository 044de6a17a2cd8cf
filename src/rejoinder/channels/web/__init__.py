"""The chat page as a platform of its own: a durable room log, sockets that resume, a channel on top.

The pages and their server are in `rejoinder.web`; this package knows frames, not how they travel.
"""

import time
from typing import TYPE_CHECKING

from msgspec import Struct

from rejoinder.channels.declaration import ChannelKind
from rejoinder.keys import DirectAccess, GroupAccess, Port, Text
from rejoinder.secret import Secret

if TYPE_CHECKING:
    from rejoinder.channels.web.channel import WebChannel

MEMORY = "sqlite::memory:"
UPLOAD_LIMIT = 20 << 20


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat page and the console."""

    host: Text = "127.0.0.1"
    """The address to listen on; anything but loopback asks for a login token."""
    port: Port = 8765
    """The port to listen on; 0 takes a free one."""
    token: Secret | None = None
    """The login token; unset: made at the first start and printed once, where one is needed."""
    hosts: tuple[Text, ...] = ()
    """Names by which browsers reach the page, beside localhost and addresses: behind a proxy, its name."""
    faces: dict[str, Text] = {}
    """The emoji of an agent, by its name; without one its initials are shown."""
    dm: DirectAccess = "open"
    """Who may write directly: whoever may open the page."""
    groups: GroupAccess = "open"
    """Rooms of the page."""
    require_mention: bool = False
    """In rooms the agent answers only when mentioned or replied to."""


def journal_path(store: str) -> str:
    """`rejoinder.db` has `rejoinder.db.web.db` beside it; if the store is no file, it is in the working directory."""
    if store == MEMORY:
        return ":memory:"
    if store.startswith("sqlite:"):
        return store.removeprefix("sqlite:") + ".web.db"
    return "rejoinder.web.db"


def open_channel(
    name: str, settings: Settings, agents: tuple[str, ...] = (), store: str = MEMORY, wake: str = "lead"
) -> "WebChannel":
    """`agents`: all agents; several share a lobby. `store`: that of the gateway; the room log lies beside it. `wake`:
    which agents take a message that names none in a room; the page shows it."""
    from rejoinder.channels.web.channel import WebChannel  # noqa: PLC0415 - reading the settings needs no journal
    from rejoinder.channels.web.keeper import Keeper  # noqa: PLC0415

    path = journal_path(store)
    return WebChannel(name, Keeper(path, name, agents, now=_milliseconds, faces=settings.faces), wake)


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


CHANNEL = ChannelKind(
    settings=Settings,
    open=open_channel,
    can=frozenset({"reply", "react", "send", "files", "ephemeral", "silent", "previews"}),
    delivery="native key",
    served=False,
)
