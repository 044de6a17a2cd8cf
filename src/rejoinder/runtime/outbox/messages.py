"""The latest messages of one conversation, as the store's index has them (OD-22)."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from msgspec.structs import replace

from rejoinder.bounded import Bounded
from rejoinder.events import NewThread, Route
from rejoinder.store.base import IndexedMessage, PlaceFacts, Store

REMEMBERED = 500


class MessageIndex:
    """A message that is not in the index cannot be replied to or reacted to (OD-52)."""

    def __init__(self, store: Store, route: Route, remembered: int = REMEMBERED) -> None:
        self._store = store
        self._route = route
        self._by_id: Bounded[str, IndexedMessage] = Bounded(remembered)
        self.facts = PlaceFacts()
        self.count = 0
        """The number of the latest message; the next message will probably get the following number."""
        self.opening: NewThread | None = None
        """The thread that the next words here will open, as long as it contains nothing but its root (CH-2)."""

    def will_open(self, thread: NewThread) -> None:
        """The first words said here will open the thread, unless something has been said in it."""
        if all(known.id == thread.thread for known in self.latest(2)):
            self.opening = thread

    async def read(self, now: datetime) -> None:
        self.facts = await self._store.place(self._route, now)
        for message in await self._store.messages(self._route, limit=REMEMBERED):
            self.add(message)

    def note(self, message: IndexedMessage) -> None:
        """A message has entered the index."""
        self.add(message)
        if self.opening is not None and message.id != self.opening.thread:
            self.opening = None
        if message.kind == "own":
            self.facts = replace(self.facts, owned=self.facts.owned or message.number == 1, posted=True)
        elif message.kind == "bot":
            self.facts = replace(self.facts, other_bot=True)

    def add(self, message: IndexedMessage) -> None:
        """Adds a message of the index, with the number the index gave it."""
        self._by_id.renew(message.id, message)  # a message reported again becomes the latest
        self.count = max(self.count, message.number)

    def forget(self, message: str) -> None:
        """The message was deleted; its handle is not used again."""
        self._by_id.pop(message, None)

    def latest(self, most: int) -> Iterator[IndexedMessage]:
        """The latest messages, the last one first."""
        return islice(reversed(self._by_id.values()), most)

    def find(self, reference: str) -> str | None:
        """The platform id behind a handle or an id, if it is one of the latest messages here."""
        if reference in self._by_id:
            return reference
        return next((known.id for known in self._by_id.values() if known.handle == reference), None)

    def get(self, message: str) -> IndexedMessage | None:
        return self._by_id.get(message)

    async def look_up(self, reference: str) -> IndexedMessage | None:
        """The message behind a handle or an id, however long ago it was."""
        known = self.find(reference)
        if known is not None:
            return self._by_id[known]
        found = await self._store.message(self._route, reference)
        if found is not None:
            self.add(found)
        return found

    def handle(self, message: str) -> str | None:
        return self._by_id[message].handle if message in self._by_id else None
