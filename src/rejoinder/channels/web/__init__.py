"""The chat page as a platform of its own: a durable room log, sockets that resume, a channel on top.

The pages and their server are in `rejoinder.web`; this room knows frames, not how they travel.
"""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from rejoinder.channels.web.channel import WebChannel

MEMORY = "sqlite::memory:"
UPLOAD_LIMIT = 20 << 20


class Settings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    hosts: tuple[str, ...] = ()
    """Names by which browsers reach the page."""
    agents: tuple[str, ...] = ()
    """Who is here; several share a lobby."""
    faces: Mapping[str, str] = {}
    wake: str = "lead"
    """Who takes what names nobody in a room, for the page to tell."""
    store: str = MEMORY
    """The gateway's; the room log lies beside it."""


def journal_path(store: str) -> str:
    """`rejoinder.db` has `rejoinder.db.web.db` beside it; a store that is no file here, a file where we stand."""
    if store == MEMORY:
        return ":memory:"
    if store.startswith("sqlite:"):
        return store.removeprefix("sqlite:") + ".web.db"
    return "rejoinder.web.db"


def open_channel(name: str, settings: Settings) -> "WebChannel":
    from rejoinder.channels.web.channel import WebChannel  # noqa: PLC0415 - who reads the settings needs no journal
    from rejoinder.channels.web.keeper import Keeper  # noqa: PLC0415

    path = journal_path(settings.store)
    keeper = Keeper(path, name, settings.agents, now=_milliseconds, faces=settings.faces)
    return WebChannel(name, keeper, settings.wake)


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000
