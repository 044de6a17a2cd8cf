"""A channel's room log: messages of its people reach the inbox in the same commit (SC-14)."""

from collections.abc import Callable
from datetime import datetime
from secrets import token_hex
from typing import Protocol

from rejoinder.events import Inbound
from rejoinder.room_log import Changes, Find, LogState, Overview, Replies, RoomEntries, RoomEntry, RoomEvent, RoomRow
from rejoinder.store.base import OpenLog, RecordChanges, Store, StoreReader, scope_of


class Record(Protocol):
    async def __call__(self, change: RecordChanges, *messages: Inbound) -> int: ...


class StoredLog:
    """Read access to the log in the store that has the channel's name."""

    def __init__(self, name: str, store: StoreReader) -> None:
        self._name = name
        self._reader = store

    async def room(self, id: str) -> RoomRow | None:
        return await self._reader.log_room(self._name, id)

    async def entry(self, id: str) -> RoomEntry | None:
        return await self._reader.log_entry(self._name, id)

    async def entry_under(self, key: str) -> RoomEntry | None:
        return await self._reader.log_entry_under(self._name, key)

    async def find(self, wanted: Find) -> RoomEntries:
        return await self._reader.log_find(self._name, wanted)

    async def replies(self, threads: tuple[str, ...], person: str) -> dict[str, Replies]:
        return await self._reader.log_replies(self._name, threads, person)

    async def overview(self, person: str, since: int | None, most: int) -> Overview:
        return await self._reader.log_overview(self._name, person, since, most)

    async def events(self, after: int, most: int) -> tuple[RoomEvent, ...]:
        return await self._reader.log_events(self._name, after, most)

    async def mark(self, person: str, room: str) -> int:
        return await self._reader.log_mark(self._name, person, room)

    async def fact(self, kind: str, key: str) -> bytes | None:
        return await self._reader.fact(scope_of(self._name, kind), key)

    async def facts(self, kind: str) -> dict[str, bytes]:
        return await self._reader.facts(scope_of(self._name, kind))


class ChannelLog(StoredLog):
    """The same log for its channel, which may also write it."""

    def __init__(self, name: str, record: Record, store: Store, clock: Callable[[], datetime]) -> None:
        super().__init__(name, store)
        self._record = record
        self._store = store
        self._clock = clock

    async def write(self, changes: Changes, *heard: Inbound) -> int:
        change = RecordChanges(self._name, changes, self._clock())
        return await self._record(change, *heard) if heard else await self._store.write(change)

    async def state(self) -> LogState:
        return await self._store.log_state(self._name) or await self._store.write(OpenLog(self._name, token_hex(8)))
