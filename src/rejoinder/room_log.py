"""A durable log of rooms, for a channel that is a platform of its own, such as the chat page (SC-14).

Rule 1: what happens in a log has a number. Numbers are given in the order of the commits, without a gap.
Rule 2: what is written together happens together: events, what they change, and the messages the gateway is given.
Rule 3: what a change was made from is named, by the version of an entry or a key that is done once. If that has moved
        on, nothing is written and `Superseded` is raised: read again, decide again.

Bodies belong to the channel; the store knows only what it finds things by. `store/rooms.py` keeps all this.
"""

from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct

from rejoinder.blobs import Blobs
from rejoinder.events import Inbound

EntryState = Literal["growing", "interrupted", "whole", "deleted"]


class RoomRow(Struct, frozen=True):
    """A room. `person`: the only one who sees it."""

    id: str
    person: str | None
    body: bytes


class RoomEntry(Struct, frozen=True, kw_only=True):
    """A message of a room, as it is found. Only its text, its body, its state and its files may change."""

    id: str
    room: str
    author: str
    at: datetime
    body: bytes
    thread: str = ""
    """The entry that began its thread."""
    text: str = ""
    """What a search looks through, in lower case."""
    audience: str | None = None
    """The one person who sees it."""
    private: bool = False
    """Only its reader was meant, though the room may have others."""
    counted: bool = True
    """Whether it is a message that a person may not have read yet."""
    answers: str = ""
    """The entry it answers."""
    key: str | None = None
    """What its sender knows it by; each key is taken once."""
    state: EntryState = "whole"
    blobs: tuple[str, ...] = ()
    """The files it names."""
    version: int = 0
    """Which version was read; 0: it is new."""
    seq: int = 0
    """The number of the event that posted it."""


class Mark(Struct, frozen=True):
    """How far a person has read a room. A mark never goes back."""

    person: str
    room: str
    seq: int


class RoomEvent(Struct, frozen=True, kw_only=True):
    """Something that happened, for those who follow the log, and the one thing it changes."""

    body: bytes
    audience: str | None = None
    """The one person who is told; None: everybody."""
    change: RoomRow | RoomEntry | Mark | None = None
    seq: int = 0


class Fact(Struct, frozen=True):
    """Something small that is kept under a key, among others of its kind; None: it is forgotten."""

    kind: str
    key: str
    body: bytes | None


class OnceRequest(Struct, frozen=True):
    """A request that is done once: who repeats it finds what came of it, as the fact of this kind and key."""

    kind: str
    key: str
    result: bytes


class Changes(Struct, frozen=True, kw_only=True):
    """What is written in one step."""

    events: tuple[RoomEvent, ...] = ()
    facts: tuple[Fact, ...] = ()
    once: OnceRequest | None = None


class LogState(Struct, frozen=True):
    """`id` changes when a log is restored from a copy: numbers above those it has may mean something else there."""

    id: str
    seq: int


class Find(Struct, frozen=True, kw_only=True):
    """Which entries are wanted: those that fulfil all of it, deleted ones never."""

    person: str | None = None
    """Who reads: what only others see is left out. None: what everybody sees."""
    everything: bool = False
    """Whoever may see it."""
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
    """Counted, not private and not growing."""
    oldest_first: bool = False
    """The first after `after` are wanted, instead of the last before `before`."""
    limit: int = 50
    bytes: int = 1 << 20
    """The most that their bodies have together; one entry is returned whatever its length."""


class RoomEntries(Struct, frozen=True):
    """In the order asked for. `more`: there are others behind these."""

    entries: tuple[RoomEntry, ...]
    more: bool


class Replies(Struct, frozen=True):
    """What is in a thread, as far as a person sees it."""

    count: int
    latest: datetime


class RoomView(Struct, frozen=True):
    """A room as a person finds it: what they have read, what not, and what was said last outside threads."""

    row: RoomRow
    read: int
    unread: int
    latest: RoomEntry | None


class Overview(Struct, frozen=True):
    """All that somebody needs who begins to follow, as of one moment."""

    state: LogState
    rooms: tuple[RoomView, ...]
    missed: tuple[RoomEvent, ...] | None
    """The events since then; None: they are too many, or not all there any more."""


class RoomLogReader(Protocol):
    """One log, for whoever only reads it, also beside the gateway."""

    async def room(self, id: str) -> RoomRow | None: ...

    async def entry(self, id: str) -> RoomEntry | None:
        """Also one that is deleted."""
        ...

    async def entry_under(self, key: str) -> RoomEntry | None: ...

    async def find(self, wanted: Find) -> RoomEntries: ...

    async def replies(self, threads: tuple[str, ...], person: str) -> dict[str, Replies]: ...

    async def overview(self, person: str, since: int | None, most: int) -> Overview: ...

    async def events(self, after: int, most: int) -> tuple[RoomEvent, ...]:
        """For whomever, in order."""
        ...

    async def mark(self, person: str, room: str) -> int:
        """How far the person has read the room."""
        ...

    async def fact(self, kind: str, key: str) -> bytes | None: ...

    async def facts(self, kind: str) -> dict[str, bytes]: ...


class RoomLog(RoomLogReader, Protocol):
    """One log, as its channel sees it."""

    async def write(self, changes: Changes, *heard: Inbound) -> int:
        """Returns, once all of it is durable, the number of the first event. `heard`: messages for the gateway.

        Raises `Superseded`, and `StoreUnavailable`.
        """
        ...

    async def state(self) -> LogState: ...


class ChannelStorage(Struct, frozen=True):
    """What the store offers a channel."""

    log: RoomLog
    blobs: Blobs
