"""The chat page as a platform of its own: a durable room log, sockets that resume, a channel on top.

The pages and their server are in `rejoinder.web`; this package knows frames, not how they travel.
"""

import time
from typing import TYPE_CHECKING

from rejoinder.channels.settings import WebSettings as Settings

if TYPE_CHECKING:
    from rejoinder.channels.web.channel import WebChannel

MEMORY = "sqlite::memory:"
UPLOAD_LIMIT = 20 << 20


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
