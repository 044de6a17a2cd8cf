"""A durable log of rooms, for a channel that is a platform of its own, such as the chat page (SC-14).

Rule 1: every event in a log has a number. Numbers follow the order of the commits, without gaps.
Rule 2: one write is one commit: the events, what they change, and the messages for the gateway.
Rule 3: a change names what it is based on: the version of an entry, or the key of a request that is done once. If that
        is out of date, nothing is written and `Superseded` is raised: read again and decide again.

Bodies belong to the channel; the store understands only the fields it searches by. `store/rooms.py` keeps all this.
"""

from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct

from rejoinder.blobs import Blobs
from rejoinder.events import Inbound

EntryState = Literal["growing", "interrupted", "whole", "deleted"]


class RoomRow(Struct, frozen=True):
    """A room. `person`: the only person who sees it."""

    id: str
    person: str | None
    body: bytes


class RoomEntry(Struct, frozen=True, kw_only=True):
    """A message of a room. Only its text, body, state and files may change."""

    id: str
    room: str
    author: str
    at: datetime
    body: bytes
    thread: str = ""
    """The entry that began its thread."""
    text: str = ""
    """The text that is searched, in lower case."""
    audience: str | None = None
    """The only person who sees it."""
    private: bool = False
    """Whether it is meant for its reader alone, although the room may have other people."""
    counted: bool = True
    """Whether it is a message that a person may not have read yet."""
    answers: str = ""
    """The entry it answers."""
    key: str | None = None
    """The sender's own key of it; a key is used only once."""
    state: EntryState = "whole"
    blobs: tuple[str, ...] = ()
    """The files it names."""
    version: int = 0
    """The version that was read; 0: the entry is new."""
    seq: int = 0
    """The number of the event that posted it."""


class Mark(Struct, frozen=True):
    """How far a person has read a room. A mark never goes back."""

    person: str
    room: str
    seq: int


class RoomEvent(Struct, frozen=True, kw_only=True):
    """Something that happened, for the followers of the log, and the one thing that it changes."""

    body: bytes
    audience: str | None = None
    """The only person who is told; None: everybody."""
    change: RoomRow | RoomEntry | Mark | None = None
    seq: int = 0


class Fact(Struct, frozen=True):
    """A small value stored under a kind and a key; None: it is deleted."""

    kind: str
    key: str
    body: bytes | None


class OnceRequest(Struct, frozen=True):
    """A request that is done once: repeating it finds the earlier result, stored as the fact of this kind and key."""

    kind: str
    key: str
    result: bytes


class Changes(Struct, frozen=True, kw_only=True):
    """What one commit writes."""

    events: tuple[RoomEvent, ...] = ()
    facts: tuple[Fact, ...] = ()
    once: OnceRequest | None = None


class LogState(Struct, frozen=True):
    """`id` changes when a log is restored from a copy: later numbers may then mean something else."""

    id: str
    seq: int


class Find(Struct, frozen=True, kw_only=True):
    """Selects the entries that meet all conditions; deleted ones are never included."""

    person: str | None = None
    """The reader: entries that only others see are left out. None: only entries that everybody sees."""
    everything: bool = False
    """Includes entries whoever may see them."""
    room: str | None = None
    thread: str | None = None
    """The entry that began a thread; empty: outside threads."""
    before: int | None = None
    after: int | None = None
    words: tuple[str, ...] = ()
    """All of them occur in the text."""
    authors: tuple[str, ...] = ()
    answers: str = ""
    plain: bool = False
    """Only entries that count as unread, are not private and are not still growing."""
    oldest_first: bool = False
    """Selects the first entries after `after` instead of the last before `before`."""
    limit: int = 50
    bytes: int = 1 << 20
    """The most bytes that the bodies have together; one entry is returned whatever its length."""


class RoomEntries(Struct, frozen=True):
    """In the requested order. `more`: further entries follow."""

    entries: tuple[RoomEntry, ...]
    more: bool


class Replies(Struct, frozen=True):
    """Summary of a thread, as far as a person sees it."""

    count: int
    latest: datetime


class RoomView(Struct, frozen=True):
    """A room as one person sees it: how far they have read, how much is unread, and the last entry outside threads."""

    row: RoomRow
    read: int
    unread: int
    latest: RoomEntry | None


class Overview(Struct, frozen=True):
    """Everything that a new follower of the log needs, as of one moment."""

    state: LogState
    rooms: tuple[RoomView, ...]
    missed: tuple[RoomEvent, ...] | None
    """The events since then; None: there are too many, or some are already deleted."""


class RoomLogReader(Protocol):
    """Read access to one log, also for programs beside the gateway."""

    async def room(self, id: str) -> RoomRow | None: ...

    async def entry(self, id: str) -> RoomEntry | None:
        """The entry, even if it is deleted."""
        ...

    async def entry_under(self, key: str) -> RoomEntry | None: ...

    async def find(self, wanted: Find) -> RoomEntries: ...

    async def replies(self, threads: tuple[str, ...], person: str) -> dict[str, Replies]: ...

    async def overview(self, person: str, since: int | None, most: int) -> Overview: ...

    async def events(self, after: int, most: int) -> tuple[RoomEvent, ...]:
        """The events for all people, in order."""
        ...

    async def mark(self, person: str, room: str) -> int:
        """How far the person has read the room."""
        ...

    async def fact(self, kind: str, key: str) -> bytes | None: ...

    async def facts(self, kind: str) -> dict[str, bytes]: ...


class RoomLog(RoomLogReader, Protocol):
    """One log, as its channel sees it."""

    async def write(self, changes: Changes, *heard: Inbound) -> int:
        """Returns the number of the first event, once everything is durable. `heard`: messages for the gateway.

        Raises `Superseded`, and `StoreUnavailable`.
        """
        ...

    async def state(self) -> LogState: ...


class ChannelStorage(Struct, frozen=True):
    """What the store offers a channel."""

    log: RoomLog
    blobs: Blobs
