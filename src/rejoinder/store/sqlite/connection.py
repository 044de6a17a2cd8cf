"""A connection that remembers what it has read once and need not read again."""

import sqlite3
from typing import Any

from rejoinder.events import Route
from rejoinder.session import route_home, session_home

PLACES = 10_000


class Numbers:
    """The numbers a gateway draws itself. None is used for two things, even if the first was never written."""

    def __init__(self, generation: int = 0, event: int = 0) -> None:
        self.generation = generation
        self.event = event

    def next_generation(self) -> int:
        self.generation += 1
        return self.generation

    def next_event(self) -> int:
        self.event += 1
        return self.event

    def drawn(self) -> tuple[int, int]:
        return self.generation, self.event

    def draw_again_from(self, drawn: tuple[int, int]) -> None:
        """Draws the same numbers once more, for the same things."""
        self.generation, self.event = drawn


class Connection(sqlite3.Connection):
    """`numbers` is used only by the gateway's own connection: no other one claims or accepts anything."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.numbers = Numbers()
        self.shards = 1
        self.acting: int | None = None
        """The shard whose owner writes now; None: nobody's."""
        self._places: dict[Route, int] = {}
        self._shards: dict[int, int] = {}
        self._handles: dict[int, int] = {}
        self._owners: dict[int, int] = {}
        self.create_function("session_home", 1, session_home, deterministic=True)
        self.create_function("route_home", 3, _route_home, deterministic=True)

    def go_on_like(self, before: "Connection") -> None:
        """Continues the numbers of another one."""
        self.numbers, self.shards = before.numbers, before.shards

    def known_place(self, route: Route) -> int | None:
        return self._places.get(route)

    def know_place(self, route: Route, id: int) -> None:
        """A place keeps its number for ever, unless the transaction that made it is rolled back."""
        if len(self._places) >= PLACES:
            self._places.clear()
        self._places[route] = id

    def shard_of_place(self, place: int) -> int:
        if self.shards == 1:
            return 0
        if place not in self._shards:
            if len(self._shards) >= PLACES:
                self._shards.clear()
            self._shards[place] = self.execute("SELECT shard FROM place WHERE id = ?", (place,)).fetchone()[0]
        return self._shards[place]

    def generation_of(self, shard: int) -> int:
        """Only the gateway claims shards, through this connection; so this is read once."""
        if shard not in self._owners:
            (found,) = self.execute("SELECT generation FROM shard WHERE id = ?", (shard,)).fetchone() or (-1,)
            self._owners[shard] = found
        return self._owners[shard]

    def know_owner(self, shard: int, generation: int) -> None:
        self._owners[shard] = generation

    def known_handles(self, place: int) -> int | None:
        return self._handles.get(place)

    def know_handles(self, place: int, count: int) -> None:
        """The highest message number of a place so far; only the gateway gives these numbers."""
        if len(self._handles) >= PLACES:
            self._handles.clear()
        self._handles[place] = count

    def take_back(self, to: str = "") -> None:
        self.execute(f"ROLLBACK TO {to}" if to else "ROLLBACK")
        self._places.clear()
        self._shards.clear()
        self._handles.clear()
        self._owners.clear()


def _route_home(channel: str, account: str, chat: str) -> str:
    return route_home(Route(channel, chat, None, account))
