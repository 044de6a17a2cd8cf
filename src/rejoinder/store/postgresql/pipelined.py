"""The writer's connection. Verbs use it like any other, but it waits for an answer only when a verb uses it, and then
together with the answers of other verbs (SC-21).

Optimistic: statements are kept until an answer is needed or everything is committed, and go in one round trip. It is
            assumed that a fence holds and that an inserted row is new. If this is wrong, the statement itself fails,
            nothing is committed, and the writer does it again carefully.
Careful:    each statement is waited for.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import psycopg
from greenlet import getcurrent

from rejoinder.store.postgresql.connection import LATEST, OURS, in_its_words, taking
from rejoinder.store.postgresql.fibers import Work, current_work, pause, wait
from rejoinder.store.postgresql.wire import Row, ServerAnswer, Skipped, Wire, encoded
from rejoinder.store.sql.connection import Insertion, Parameters, Rows, SqlConnection

DRAW: Final = "SELECT nextval(pg_get_serial_sequence(?, 'id')) FROM generate_series(1, ?)"
STOCKED: Final = frozenset({"turn"})
"""Tables whose new rows get numbers drawn in advance, because other statements refer to them. Only the owner of a shard
inserts rows for it there, and it draws new numbers after claiming a shard, so that the numbers of a session's rows
follow their order."""
STOCK: Final = 50
TAKE_ALL: Final = "SELECT pg_advisory_xact_lock_shared(?, id) FROM unnest(CAST(? AS INTEGER[])) AS shard (id)"
ALL_LATEST: Final = (
    "SELECT 1 / CAST(count(*) = cardinality($1) AS INT) FROM shard "
    "JOIN unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS believed (id, generation) USING (id, generation)"
)
"""A separate statement: a statement sees what was committed when it began, and this one has to see everything committed
before the locks were taken. It says INT because INTEGER would be translated to BIGINT, to which a boolean cannot be
cast."""

T = TypeVar("T")


@cache
def checked(sql: str, count: int) -> str:
    """The statement in a form that fails unless it finds or changes this many rows."""
    told = "min(id)" if sql.endswith("RETURNING id") else "NULL"
    returning = "" if sql.startswith("SELECT") or " RETURNING " in sql else " RETURNING 1"
    return f"WITH done AS ({sql}{returning}) SELECT {told}, 1 / CAST(count(*) = {count} AS INTEGER) FROM done"


class VerbResult(NamedTuple, Generic[T]):
    """What a verb returns, once the answers of its statements are there."""

    tell: Callable[[], T]
    look_up: Callable[[SqlConnection], T]
    """Reads the result from the store, if the answers were lost and everything is known to be committed."""


def resolved(results: tuple[Any, ...], again: SqlConnection | None = None) -> tuple[Any, ...]:
    """The results of verbs once everything is committed. `again`: where to look them up if the answers were lost."""

    def result(each: VerbResult[Any]) -> Any:
        return each.tell() if again is None else each.look_up(again)

    return tuple([result(cast("VerbResult[Any]", each)) if isinstance(each, VerbResult) else each for each in results])


class LateRows(ServerAnswer):
    """The rows that a statement has found or changed. They are waited for only when they are used."""

    __slots__ = ("_db", "_next", "_rows", "given", "owner", "sql", "wanted")

    def __init__(self, db: "Pipelined", sql: str, values: Sequence[Any]) -> None:
        super().__init__()
        self.owner = current_work()
        self._db = db
        self.sql = sql
        self.given = encoded(values)
        self.wanted: int | None = None
        """The assumed number of rows that it finds or changes."""
        self._rows: list[Row] | None = None
        self._next = 0

    @property
    def rowcount(self) -> int:
        result = self._db.arrived(self).result
        return 0 if result is None else result.command_tuples or 0

    def fetchone(self) -> Row | None:
        found = self._found()
        if self._next >= len(found):
            return None
        self._next += 1
        return found[self._next - 1]

    def fetchall(self) -> list[Row]:
        found, begin = self._found(), self._next
        self._next = len(found)
        return found[begin:]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.fetchall())

    def value(self) -> Any:
        """The first value that was found; it can be read repeatedly."""
        found = self._found()
        return found[0][0] if found else None

    def _found(self) -> list[Row]:
        if self._rows is None:
            self._rows = self._db.wire.rows(self._db.arrived(self))
        return self._rows


class Fences:
    """All fences of one round trip, in two statements whose values are known when it begins."""

    def __init__(self, taking: LateRows, latest: LateRows) -> None:
        self._taking, self._latest = taking, latest
        self._shards: list[int] = []
        self._generations: list[int] = []
        taking.owner = latest.owner = None  # they serve all later writes

    def add(self, shard: int, generation: int) -> None:
        self._shards.append(shard)
        self._generations.append(generation)

    def close(self) -> None:
        self._taking.given = encoded((OURS, self._shards))
        self._latest.given = encoded((self._shards, self._generations))


class Pipelined(SqlConnection):
    def __init__(self, db: psycopg.Connection[Row], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.wire = Wire(db, loop)
        self._touched: set[int] = set()
        """The shards with new rows since the last commit, for the processes that wait for these."""
        self._crossed: set[int] = set()
        """The shards among these to which another shard's engine has written."""
        self.is_careful = False
        self._unsent: list[LateRows] = []
        self._acts: dict[object, int | None] = {}
        self._stock: dict[str, deque[int]] = {table: deque() for table in STOCKED}
        self._taken: set[str] = set()
        self._fences: Fences | None = None
        self._fenced: set[tuple[int, int]] = set()
        """The shards and generations by which this transaction is fenced."""
        self._generations: dict[int, int] = {}

    def act_for(self, shard: int | None) -> None:
        """Sets the shard for the verbs that run in this fiber."""
        self._acts[getcurrent()] = shard

    @property
    def acting(self) -> int | None:
        return self._acts.get(getcurrent())

    def acts_for(self, shard: int) -> bool:
        return self.acting in (None, shard)

    # --- statements ---------------------------------------------------------------------------------

    def execute(self, sql: str, parameters: Parameters = (), /) -> Rows:
        return self._execute(sql, parameters)

    def _execute(self, sql: str, parameters: Parameters = ()) -> LateRows:
        rows = LateRows(self, *in_its_words(sql, parameters))
        self._unsent.append(rows)
        if self.is_careful:
            self.round_trip()
            if (error := rows.error) is not None:
                raise error
        return rows

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> object:
        for each in parameters:
            self.execute(sql, each)

    def insert(self, row: Insertion, values: Row, /) -> int | None:
        if row.table in STOCKED and not self.is_careful:
            self._taken.add(row.table)
            if stock := self._stock[row.table]:
                id = stock.popleft()
                self._believe(self._insert(row.numbered, (id, *values)), 1)
                return id
        return self._insert(row, values, " RETURNING id").value()

    def insert_later(self, row: Insertion, values: Row, /) -> Callable[[], int | None]:
        return self._insert(row, values, " RETURNING id").value

    def insert_new(self, row: Insertion, values: Row, /) -> Callable[[], int | None] | None:
        if self.is_careful:
            return super().insert_new(row, values)
        rows = self._insert(row, values, " RETURNING id")
        self._believe(rows, 1)
        return rows.value

    def _insert(self, row: Insertion, values: Row, returning: str = "") -> LateRows:
        if "shard" in row.columns:
            shard = values[row.columns.index("shard")]
            self._touched.add(shard)
            if not self.acts_for(shard):
                self._crossed.add(shard)
        return self._execute(row.sql + returning, values)

    def exceptional(self, sql: str, parameters: Parameters, /) -> Any:
        if self.is_careful:
            return super().exceptional(sql, parameters)
        self._believe(self._execute(sql, parameters), 0)
        return None

    def later(self, tell: Callable[[], T], look_up: Callable[[SqlConnection], T]) -> T:
        """Returns a `VerbResult`, which `resolved` turns into the result."""
        return tell() if self.is_careful else cast(T, VerbResult(tell, look_up))

    def all_later(self, each: list[T]) -> tuple[T, ...]:
        parts = tuple(each)
        return self.later(lambda: resolved(parts), lambda again: resolved(parts, again))

    def move(self, sql: str, parameters: Parameters, what: str, *names: object) -> None:
        if self.is_careful:
            super().move(sql, parameters, what, *names)
        else:
            self._believe(self._execute(sql, parameters), 1)

    def hold(self, sql: str, parameters: Parameters, what: str, *names: object) -> None:
        if self.is_careful:
            super().hold(sql, parameters, what, *names)
        else:
            self._believe(self._execute(sql, parameters), 1)

    def is_latest(self, shard: int, generation: int) -> bool:
        if self._generations.get(shard) != generation:  # another owner may have given out numbers there meanwhile
            self._generations[shard] = generation
            self.forget_all()
            for stock in self._stock.values():
                stock.clear()
        if self.is_careful:
            return self.generation_of(shard) == generation
        if (shard, generation) not in self._fenced:
            self._fenced.add((shard, generation))
            if self._fences is None:
                self._fences = Fences(self._execute(TAKE_ALL, (OURS, [])), self._execute(ALL_LATEST, ([], [])))
            self._fences.add(shard, generation)
        return True

    def generation_of(self, shard: int) -> int:
        self.execute(*taking(shard))
        (found,) = self.execute(LATEST, (shard,)).fetchone() or (-1,)
        return found

    # --- answers ------------------------------------------------------------------------------------

    def round_trip(self) -> None:
        """Waits until everything so far is answered. Raises errors of statements for which nobody waits."""
        if self._fences is not None:
            self._fences.close()
        unsent, self._unsent, self._fences = self._unsent, [], None
        for each in unsent:
            sql = each.sql if each.wanted is None else checked(each.sql, each.wanted)
            self.wire.send(sql, each.given, each)
        wait(self.wire.round_trip())
        if not self.is_careful:
            for answer in self.wire.failed:
                if not isinstance(error := answer.error, Skipped | None):
                    raise FailedStatement(error, answer.owner if isinstance(answer, LateRows) else None)

    def arrived(self, answer: ServerAnswer) -> ServerAnswer:
        while answer.result is None:
            pause()
        return answer

    def begin(self, how: str = "BEGIN") -> None:
        self._let_go_unsent()
        self._acts.clear()
        self._fenced.clear()
        self._taken.clear()
        self.execute(how)

    def commit(self) -> None:
        """Commits, or fails if any assumption was wrong."""
        low = [table for table in self._taken if len(self._stock[table]) < STOCK // 2]
        drawn = {table: self._execute(DRAW, (table, STOCK)) for table in low}
        self.execute("COMMIT")
        if not self.is_careful:
            self.round_trip()
        for table, rows in drawn.items():
            self._stock[table].extend(number for (number,) in rows)

    def take_touched(self) -> tuple[set[int], set[int]]:
        """The shards with new rows since the last call, and those among them to which another shard's engine wrote."""
        touched = self._touched, self._crossed
        self._touched, self._crossed = set(), set()
        return touched

    def take_back(self) -> None:
        self._let_go_unsent()
        self.is_careful = True
        self.execute("ROLLBACK")
        self.forget_all()
        self._touched.clear()
        self._crossed.clear()

    def _let_go_unsent(self) -> None:
        self._unsent.clear()
        self._fences = None

    def _believe(self, rows: LateRows, count: int) -> None:
        assert rows.result is None, "it has not been sent yet"
        rows.wanted = count

    def close(self) -> None:
        self.wire.close()


class FailedStatement(Exception):
    """A statement failed for which nobody was waiting. `work`: the work it belongs to; None if it may belong to
    several."""

    def __init__(self, error: Exception, work: Work | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.work = work


Connect = Callable[[], psycopg.Connection[Row]]
