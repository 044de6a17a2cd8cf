"""A connection that remembers what it has read once and need not read again."""

import sqlite3
from typing import Any

from rejoinder.events import Route

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
        self._places: dict[Route, int] = {}
        self._handles: dict[int, int] = {}

    def known_place(self, route: Route) -> int | None:
        return self._places.get(route)

    def know_place(self, route: Route, id: int) -> None:
        """A place keeps its number for ever, unless the transaction that made it is rolled back."""
        if len(self._places) >= PLACES:
            self._places.clear()
        self._places[route] = id

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
        self._handles.clear()
