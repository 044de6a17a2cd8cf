"""The connection on which verbs and reads run. It remembers values that need not be read again."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeVar

from rejoinder.errors import Superseded
from rejoinder.events import Route

PLACES = 2000

Parameters = tuple[Any, ...] | list[Any] | Mapping[str, Any]
Row = tuple[Any, ...]
T = TypeVar("T")


class Numbers:
    """The numbers that a gateway draws itself. None is used for two things, even if the first was never written."""

    def __init__(self, generation: int = 0, rows: dict[str, int] | None = None) -> None:
        self.generation = generation
        self.rows = rows or {}
        """The last number of each table whose rows it numbers."""

    def next_generation(self) -> int:
        self.generation += 1
        return self.generation

    def next_row(self, table: str) -> int:
        self.rows[table] = number = self.rows[table] + 1
        return number

    def drawn(self) -> tuple[int, dict[str, int]]:
        return self.generation, self.rows.copy()

    def draw_again_from(self, drawn: tuple[int, dict[str, int]]) -> None:
        """Makes it draw the same numbers again, for the same things."""
        self.generation, self.rows = drawn[0], drawn[1].copy()


class Changed(Protocol):
    """How many rows a statement has changed."""

    @property
    def rowcount(self) -> int: ...


class Rows(Changed, Protocol):
    """The rows that a statement has found or changed."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Insertion:
    """An insertion into a table that numbers its rows. Nothing is inserted if there already is such a row, or if
    `where` does not hold. The values for the columns are followed by those for `where`."""

    def __init__(self, table: str, *columns: str, where: str = "") -> None:
        self.table = table
        self.columns = columns
        self._where = where
        marks = ", ".join("?" * len(columns))
        values = f"SELECT {marks} WHERE {where}" if where else f"VALUES ({marks})"
        self.sql = f"INSERT INTO {table} ({', '.join(columns)}) {values} ON CONFLICT DO NOTHING"

    @cached_property
    def numbered(self) -> "Insertion":
        """The same with a number that is known in advance; it is the first value."""
        return Insertion(self.table, "id", *self.columns, where=self._where)


class SqlConnection:
    """`numbers` is used only by the gateway's own connection; no other connection claims or accepts anything."""

    numbers: Numbers
    shards: int

    def __init__(self) -> None:
        self.numbers = Numbers()
        self.shards = 1
        self._acting: int | None = None
        self.places: dict[Route, int] = {}
        """The known numbers of places."""
        self._shards: dict[int, int] = {}
        self._last_turns: dict[str, int | None] = {}

    # --- for engines to override --------------------------------------------------------------------

    def execute(self, sql: str, parameters: Parameters = (), /) -> Rows:
        raise NotImplementedError

    def change(self, sql: str, parameters: Parameters = (), /) -> Changed:
        """Runs a statement whose rows or count, if any, are read before the next one."""
        return self.execute(sql, parameters)

    def move(self, sql: str, parameters: Parameters, what: str, *names: object) -> None:
        """A fenced change: unless it changes one row, another writer was faster."""
        if self.change(sql, parameters).rowcount != 1:
            raise superseded(what, *names)

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> object:
        raise NotImplementedError

    def insert(self, row: Insertion, values: Row, /) -> int | None:
        """Inserts a row and returns its number, or None if nothing was inserted."""
        raise NotImplementedError

    def insert_later(self, row: Insertion, values: Row, /) -> Callable[[], int | None]:
        """Inserts a row. Returns a function that gives its number, or None if nothing was inserted. It is best called
        in `later`, when all answers are there."""
        number = self.insert(row, values)
        return lambda: number

    def insert_new(self, row: Insertion, values: Row, /) -> Callable[[], int | None] | None:
        """Like `insert_later`, but returns None if nothing was inserted, which is rare."""
        number = self.insert(row, values)
        return None if number is None else lambda: number

    def exceptional(self, sql: str, parameters: Parameters, /) -> Any:
        """Finds a row that rarely exists."""
        return self.execute(sql, parameters).fetchone()

    def later(self, tell: Callable[[], T], look_up: "Callable[[SqlConnection], T]") -> T:
        """The result of a verb, if building it is the last thing the verb does. An engine that gets its answers later
        builds it then. `look_up`: reads the result from the store, if the answers were lost and everything is known to
        be committed."""
        return tell()

    def all_later(self, each: list[T]) -> tuple[T, ...]:
        """The result of a verb each part of which may come later."""
        return tuple(each)

    def hold(self, sql: str, parameters: Parameters, what: str, *names: object) -> None:
        """A fence: unless the statement finds a row, another writer was faster."""
        if self.execute(sql, parameters).fetchone() is None:
            raise superseded(what, *names)

    def is_latest(self, shard: int, generation: int) -> bool:
        """Whether nobody has claimed the shard since. Nobody can claim it before this transaction ends."""
        return self.generation_of(shard) == generation

    def generation_of(self, shard: int) -> int:
        """The latest generation of a shard, which does not change before this transaction ends."""
        raise NotImplementedError

    def draw_generation(self, shard: int) -> int:
        """A new generation for a shard. No write of an earlier one is under way any more."""
        raise NotImplementedError

    def know_owner(self, shard: int, generation: int) -> None:
        """The shard has been claimed."""

    def keep_numbers(self) -> None:
        """Called before rows are removed, so that no row gets the number of a removed one."""

    def last_number(self, place: int) -> int | None:
        """The last number given to a message of a place; None if others may give out numbers too."""
        return None

    def know_last_number(self, place: int, number: int | None) -> None:
        """Remembers the last number of a place; None if it has to be read again."""

    def act_for(self, shard: int | None) -> None:
        """Sets the shard for which the next verbs are written; None: no shard."""
        self._acting = shard

    @property
    def acting(self) -> int | None:
        """The shard of the writing engine."""
        return self._acting

    def acts_for(self, shard: int) -> bool:
        return self._acting is None or self._acting == shard

    # --- memory -------------------------------------------------------------------------------------

    def know_place(self, route: Route, id: int, shard: int) -> None:
        """Remembers a place. It keeps its number and shard for ever, unless the transaction that made it is rolled
        back."""
        if len(self.places) >= PLACES:
            self.places.clear()
            self._shards.clear()
        self.places[route] = id
        self._shards[id] = shard

    def shard_of_place(self, place: int) -> int:
        if self.shards == 1:
            return 0
        if place not in self._shards:
            if len(self._shards) >= PLACES:
                self._shards.clear()
            self._shards[place] = self.execute("SELECT shard FROM place WHERE id = ?", (place,)).fetchone()[0]
        return self._shards[place]

    def last_turn(self, session: str, look_up: Callable[[], int | None]) -> int | None:
        """The turn of the last entry in a session's transcript; only the session's owner appends to it."""
        if session not in self._last_turns:
            self.know_last_turn(session, look_up())
        return self._last_turns[session]

    def know_last_turn(self, session: str, turn: int | None) -> None:
        if len(self._last_turns) >= PLACES:
            self._last_turns.clear()
        self._last_turns[session] = turn

    def forget_all(self) -> None:
        """Forgets everything that may not be true any more: a transaction was rolled back, or another process has
        written."""
        self.places.clear()
        self._shards.clear()
        self._last_turns.clear()


def superseded(what: str, *names: object) -> Superseded:
    return Superseded(f"{what % names} has been changed by somebody else")
