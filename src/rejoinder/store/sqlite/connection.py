"""A connection to the file: Python's own, extended by what verbs and reads need."""

import sqlite3
from typing import Any

from rejoinder.events import Route
from rejoinder.session import route_home, session_home
from rejoinder.store.sql.connection import PLACES, Insertion, Numbers, Parameters, Row, SqlConnection
from rejoinder.store.sql.upkeep import draw_opening

NUMBERED = ("inbox", "turn")
"""Tables whose rows the gateway numbers itself. `AUTOINCREMENT` would write the last number with every row; for these
tables it is written, in the same place, only when rows are removed."""


class Connection(sqlite3.Connection, SqlConnection):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        sqlite3.Connection.__init__(self, *arguments, **options)
        SqlConnection.__init__(self)
        self._changes = self.cursor()  # one for all changes: they leave no rows to fetch
        self._owners: dict[int, int] = {}
        self._last_numbers: dict[int, int] = {}
        self.create_function("session_home", 1, session_home, deterministic=True)
        self.create_function("route_home", 3, _route_home, deterministic=True)

    def draw_numbers(self) -> None:
        """Reads the last numbers. Call this when the process has the file to itself, before any insertion."""
        self.numbers = Numbers(draw_opening(self), {table: self.last_row(table) for table in NUMBERED})

    def go_on_like(self, before: "Connection") -> None:
        """Continues the numbers of another connection."""
        self.numbers, self.shards = before.numbers, before.shards

    def change(self, sql: str, parameters: Parameters = (), /) -> sqlite3.Cursor:
        return self._changes.execute(sql, parameters)

    def insert(self, row: Insertion, values: Row, /) -> int | None:
        """`RETURNING` would give the number too, but it uses a temporary table."""
        if row.table in self.numbers.rows:  # early results keep their numbers if done again
            row, values = row.numbered, (self.numbers.next_row(row.table), *values)
        new = self.change(row.sql, values)
        return new.lastrowid if new.rowcount else None

    def exceptional(self, sql: str, parameters: Parameters, /) -> Any:
        """Reads to the end, so that the cursor is free again."""
        found = self.change(sql, parameters).fetchall()
        return found[0] if found else None

    def keep_numbers(self) -> None:
        for table, last in self.numbers.rows.items():
            self.continue_numbers(table, last)

    def continue_numbers(self, table: str, last: int) -> None:
        changed = self.change("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, table))
        if not changed.rowcount:
            self.change("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, last))

    def last_row(self, table: str, number: str = "id") -> int:
        """The last number that a table has given, even if its row is gone."""
        (kept,) = self.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone() or (0,)
        (highest,) = self.execute(f"SELECT max({number}) FROM {table}").fetchone()
        return max(kept, highest or 0)

    def is_latest(self, shard: int, generation: int) -> bool:
        return self._owners.get(shard) == generation or self.generation_of(shard) == generation

    def generation_of(self, shard: int) -> int:
        """Read only once, because only the gateway claims shards, through this connection."""
        if shard not in self._owners:
            (found,) = self.execute("SELECT generation FROM shard WHERE id = ?", (shard,)).fetchone() or (-1,)
            self._owners[shard] = found
        return self._owners[shard]

    def draw_generation(self, shard: int) -> int:
        return self.numbers.next_generation()

    def know_owner(self, shard: int, generation: int) -> None:
        self._owners[shard] = generation

    def last_number(self, place: int) -> int | None:
        """Read only once, because only the gateway notes messages, through this connection."""
        if place not in self._last_numbers:
            (found,) = self.execute("SELECT handles FROM place WHERE id = ?", (place,)).fetchone()
            self.know_last_number(place, found)
        return self._last_numbers[place]

    def know_last_number(self, place: int, number: int | None) -> None:
        if number is None:
            self._last_numbers.pop(place, None)
            return
        if len(self._last_numbers) >= PLACES:
            self._last_numbers.clear()
        self._last_numbers[place] = number

    def take_back(self, to: str = "") -> None:
        self.execute(f"ROLLBACK TO {to}" if to else "ROLLBACK")
        self.forget_all()

    def forget_all(self) -> None:
        super().forget_all()
        self._owners.clear()
        self._last_numbers.clear()


def _route_home(channel: str, account: str, chat: str) -> str:
    return route_home(Route(channel, chat, None, account))
