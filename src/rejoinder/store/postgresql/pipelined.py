"""The writer's connection: verbs are carried out on it as on any other, but an answer is waited for only when a verb
uses it, and then together with the answers of other verbs.

Optimistic: a fence is believed to hold until the answers are there, and a row that is put in is believed to be new;
            before the commit the writer asks who believed wrongly (`disproved`), and does that again carefully.
Careful:    each statement is waited for.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import psycopg
from greenlet import getcurrent, greenlet

from rejoinder.store.postgresql.connection import LATEST, prepared, taking
from rejoinder.store.postgresql.fibers import pause, wait
from rejoinder.store.postgresql.wire import Answer, Row, Skipped, Wire
from rejoinder.store.sql.connection import Parameters, Rows, SqlConnection, insertion

DRAW = "SELECT nextval(pg_get_serial_sequence(?, 'id')) FROM generate_series(1, ?)"


class LateRows:
    """What a statement has found or changed, as soon as somebody wants to know."""

    def __init__(self, db: "Pipelined", answer: Answer) -> None:
        self._db = db
        self.answer = answer
        self._rows: list[Row] | None = None
        self._next = 0

    @property
    def rowcount(self) -> int:
        result = self._db.arrived(self.answer).result
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

    def _found(self) -> list[Row]:
        if self._rows is None:
            self._rows = self._db.wire.rows(self._db.arrived(self.answer))
        return self._rows


class Belief(NamedTuple):
    rows: LateRows
    wanted: int
    fiber: greenlet


class Pipelined(SqlConnection):
    def __init__(self, db: psycopg.Connection[Row], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.wire = Wire(db, loop)
        self.touched: set[int] = set()
        """The shards that have new rows since the last commit, for those who wait for them."""
        self.is_careful = False
        self._beliefs: list[Belief] = []
        self._acts: dict[greenlet, int | None] = {}
        self._drawn: dict[str, LateRows] = {}
        self._locked: set[int] = set()
        self._generations: dict[int, int] = {}

    def act_for(self, shard: int | None) -> None:
        """For the verbs that run in this fiber."""
        self._acts[getcurrent()] = shard

    def acts_for(self, shard: int) -> bool:
        return self._acts.get(getcurrent()) in (None, shard)

    # --- statements ---------------------------------------------------------------------------------

    def execute(self, sql: str, parameters: Parameters = (), /) -> Rows:
        return self._execute(sql, parameters)

    def _execute(self, sql: str, parameters: Parameters = ()) -> LateRows:
        text, values = prepared(sql, parameters)
        rows = LateRows(self, self.wire.send(text, values, getcurrent()))
        if self.is_careful:
            self.round_trip()
            if (error := rows.answer.error) is not None:
                raise error
        return rows

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> object:
        for each in parameters:
            self.execute(sql, each)

    def insert(self, table: str, **columns: Any) -> int | None:
        if "shard" in columns:
            self.touched.add(columns["shard"])
        drawn = self._drawn[table].fetchone() if table in self._drawn else None
        if drawn is not None:
            columns["id"] = drawn[0]
            self._believe(self._execute(insertion(table, tuple(columns)), tuple(columns.values())), 1)
            return drawn[0]
        row = self.execute(insertion(table, tuple(columns)) + " RETURNING id", tuple(columns.values())).fetchone()
        return None if row is None else row[0]

    def draw(self, table: str, count: int) -> None:
        """Draws the numbers for so many new rows: whoever puts one in need not wait for it. None is kept for later: the
        rows of several processes shall have numbers in their order."""
        self._drawn[table] = self._execute(DRAW, (table, count))

    def expect(self, rows: Rows, count: int, what: str) -> None:
        if self.is_careful:
            super().expect(rows, count, what)
        else:
            self._believe(rows, count)

    def expect_row(self, rows: Rows, what: str) -> None:
        self.expect(rows, 1, what)

    def is_latest(self, shard: int, generation: int) -> bool:
        if self._generations.get(shard) != generation:  # meanwhile somebody else may have given numbers there
            self._generations[shard] = generation
            self.forget_all()
        if self.is_careful:
            return self.generation_of(shard) == generation
        if shard not in self._locked:
            self._locked.add(shard)
            self.execute(*taking(shard))
        self._believe(self._execute(LATEST + " AND generation = ?", (shard, generation)), 1)
        return True

    def generation_of(self, shard: int) -> int:
        self.execute(*taking(shard))
        (found,) = self.execute(LATEST, (shard,)).fetchone() or (-1,)
        return found

    # --- answers ------------------------------------------------------------------------------------

    def round_trip(self) -> None:
        """Until everything so far is answered. What failed is raised here, unless somebody waits for it."""
        wait(self.wire.round_trip())
        if not self.is_careful:
            for answer in self.wire.failed:
                if not isinstance(error := answer.error, Skipped | None):
                    raise Failed(error, answer.owner)

    def arrived(self, answer: Answer) -> Answer:
        while answer.result is None:
            pause()
        return answer

    def disproved(self) -> set[greenlet]:
        """Of the fibers that believed what was not so."""
        return {each.fiber for each in self._beliefs if each.rows.rowcount != each.wanted}

    def begin(self, how: str = "BEGIN") -> None:
        self._beliefs.clear()
        self._acts.clear()
        self._drawn.clear()
        self._locked.clear()
        self.execute(how)

    def _believe(self, rows: Rows, count: int) -> None:
        assert isinstance(rows, LateRows), "it is a row of this connection"
        self._beliefs.append(Belief(rows, count, getcurrent()))

    def close(self) -> None:
        self.wire.close()


class Failed(Exception):
    """A statement failed that nobody was waiting for."""

    def __init__(self, error: Exception, fiber: object) -> None:
        super().__init__(str(error))
        self.error = error
        self.fiber = fiber


Connect = Callable[[], psycopg.Connection[Row]]
