"""What verbs and reads are carried out on: a connection that remembers what need not be read again."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from rejoinder.errors import Superseded
from rejoinder.events import Route

PLACES = 10_000

Parameters = tuple[Any, ...] | list[Any] | Mapping[str, Any]


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


class Rows(Protocol):
    """What a statement has found or changed."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class SqlConnection:
    """`numbers` is used only by the gateway's own connection: no other one claims or accepts anything."""

    numbers: Numbers
    shards: int

    def __init__(self) -> None:
        self.numbers = Numbers()
        self.shards = 1
        self._acting: int | None = None
        self._places: dict[Route, int] = {}
        self._shards: dict[int, int] = {}
        self._handles: dict[int, int] = {}

    # --- what an engine says in its own way ---------------------------------------------------------

    def execute(self, sql: str, parameters: Parameters = (), /) -> Rows:
        raise NotImplementedError

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> object:
        raise NotImplementedError

    def insert(self, table: str, **columns: Any) -> int | None:
        """Puts in a row and returns its number, or None when there is such a row already."""
        raise NotImplementedError

    def expect(self, rows: Rows, count: int, what: str) -> None:
        """A fence: unless the statement has changed so many rows, another writer was faster."""
        if rows.rowcount != count:
            raise Superseded(f"{what} has been moved on by somebody else")

    def expect_row(self, rows: Rows, what: str) -> None:
        """A fence: unless the statement has found a row, another writer was faster."""
        if rows.fetchone() is None:
            raise Superseded(f"{what} has been moved on by somebody else")

    def is_latest(self, shard: int, generation: int) -> bool:
        """Whether nobody has claimed the shard since; nobody does before this transaction ends."""
        return self.generation_of(shard) == generation

    def generation_of(self, shard: int) -> int:
        """The latest generation of a shard, which does not change before this transaction ends."""
        raise NotImplementedError

    def draw_generation(self, shard: int) -> int:
        """A new generation for a shard; no write of an earlier one is under way any more."""
        raise NotImplementedError

    def know_owner(self, shard: int, generation: int) -> None:
        """The shard has been claimed."""

    def act_for(self, shard: int | None) -> None:
        """Says whose shard the next verbs are written for; None: nobody's."""
        self._acting = shard

    def acts_for(self, shard: int) -> bool:
        return self._acting is None or self._acting == shard

    # --- what is remembered -------------------------------------------------------------------------

    def known_place(self, route: Route) -> int | None:
        return self._places.get(route)

    def know_place(self, route: Route, id: int, shard: int) -> None:
        """A place keeps its number and shard for ever, unless the transaction that made it is rolled back."""
        if len(self._places) >= PLACES:
            self._places.clear()
            self._shards.clear()
        self._places[route] = id
        self._shards[id] = shard

    def shard_of_place(self, place: int) -> int:
        if self.shards == 1:
            return 0
        if place not in self._shards:
            if len(self._shards) >= PLACES:
                self._shards.clear()
            self._shards[place] = self.execute("SELECT shard FROM place WHERE id = ?", (place,)).fetchone()[0]
        return self._shards[place]

    def known_handles(self, place: int) -> int | None:
        return self._handles.get(place)

    def know_handles(self, place: int, count: int) -> None:
        """The highest message number of a place so far; only its owner gives these numbers."""
        if len(self._handles) >= PLACES:
            self._handles.clear()
        self._handles[place] = count

    def forget_all(self) -> None:
        """What was remembered may not be true: a transaction was rolled back, or somebody else has written."""
        self._places.clear()
        self._shards.clear()
        self._handles.clear()


@cache
def insertion(table: str, columns: tuple[str, ...]) -> str:
    values = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values}) ON CONFLICT DO NOTHING"
