"""A connection, with what it has seen once and need not ask again."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from rejoinder.events import Route

PLACES = 10_000


class Connection(sqlite3.Connection):
    """`generations` belongs to the gateway's own; nobody else claims anything."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.generations: Iterator[int] = iter(())
        self._places: dict[Route, int] = {}

    def known_place(self, route: Route) -> int | None:
        return self._places.get(route)

    def know_place(self, route: Route, id: int) -> None:
        """A place keeps its number for ever, unless the transaction that made it is taken back."""
        if len(self._places) >= PLACES:
            self._places.clear()
        self._places[route] = id

    def take_back(self, to: str = "") -> None:
        self.execute(f"ROLLBACK TO {to}" if to else "ROLLBACK")
        self._places.clear()
