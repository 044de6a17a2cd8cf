"""Verbs and reads of room logs and of small facts."""

from datetime import datetime
from typing import Protocol

from rejoinder.room_log import Changes, Find, LogState, Overview, Replies, RoomEntries, RoomEntry, RoomEvent, RoomRow
from rejoinder.store.verbs import Verb

KEPT_EVENTS = 50_000
"""How many of the last events of a log are kept for readers who come back. The entries they changed are kept for
ever."""


class OpenLog(Verb[LogState], frozen=True):
    """Makes the log if it does not exist. `id`: the id for a new log."""

    log: str
    id: str


class RecordChanges(Verb[int], frozen=True):
    """Returns the number of the first event. Raises `Superseded` if an entry has moved on, or the request was done."""

    log: str
    changes: Changes
    now: datetime


class PutFact(Verb[None], frozen=True):
    """Writes one fact, also beside a gateway; None deletes it."""

    scope: str
    key: str
    body: bytes | None


class RoomReader(Protocol):
    async def logs(self) -> tuple[str, ...]:
        """The names of all logs."""
        ...

    async def log_state(self, log: str) -> LogState | None: ...

    async def log_room(self, log: str, id: str) -> RoomRow | None: ...

    async def log_entry(self, log: str, id: str) -> RoomEntry | None: ...

    async def log_entry_under(self, log: str, key: str) -> RoomEntry | None: ...

    async def log_growing(self, log: str) -> tuple[RoomEntry, ...]: ...

    async def log_find(self, log: str, wanted: Find) -> RoomEntries: ...

    async def log_replies(self, log: str, threads: tuple[str, ...], person: str) -> dict[str, Replies]: ...

    async def log_overview(self, log: str, person: str, since: int | None, most: int) -> Overview: ...

    async def log_events(self, log: str, after: int, most: int) -> tuple[RoomEvent, ...]: ...

    async def log_mark(self, log: str, person: str, room: str) -> int: ...

    async def fact(self, scope: str, key: str) -> bytes | None: ...

    async def facts(self, scope: str) -> dict[str, bytes]: ...


def scope_of(log: str, kind: str) -> str:
    """The scope of the facts of a log; each kind has its own."""
    return f"{log}/{kind}"
