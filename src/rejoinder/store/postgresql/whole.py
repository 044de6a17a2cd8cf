"""A database that this process has to itself: no gateway runs on it, and one that starts waits until the end."""

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager

from psycopg.errors import LockNotAvailable

from rejoinder.errors import StoreUnavailable
from rejoinder.store.postgresql.connection import Connection, connect
from rejoinder.store.postgresql.faults import address, fault_in
from rejoinder.store.postgresql.listening import RUNS
from rejoinder.store.postgresql.migrate import MIGRATING, migrate, refuse_left_behind, refuse_strange
from rejoinder.store.postgresql.store import SHARDS, count_shards
from rejoinder.store.sql.schema import migrations
from rejoinder.store.sql.values import Row
from rejoinder.store.sql.whole import PAGE_ROWS, WholeStore

GATEWAY_END_TIMEOUT = "3s"

SEQUENCES = (
    "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = current_schema() AND is_identity = 'YES'"
)


class WholeDatabase(WholeStore):
    db: Connection

    def columns(self, table: str) -> tuple[str, ...]:
        sql = (
            "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() "
            "AND table_name = ? ORDER BY ordinal_position"
        )
        return tuple(name for (name,) in self.db.execute(sql, (table,)))

    def pages(self, sql: str, size: int = PAGE_ROWS) -> Iterator[list[Row]]:
        self.db.execute(f"DECLARE all_rows NO SCROLL CURSOR FOR {sql}")
        while page := self.db.execute(f"FETCH {size} FROM all_rows").fetchall():
            yield page
        self.db.execute("CLOSE all_rows")

    def numbers(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for table, column in self.db.execute(SEQUENCES).fetchall():
            (sequence,) = self.db.execute("SELECT pg_get_serial_sequence(?, ?)", (table, column)).fetchone()
            (last,) = self.db.execute(
                f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}"
            ).fetchone()
            found[table] = last
        return found

    def continue_numbers(self, table: str, last: int) -> None:
        for name, column in self.db.execute(SEQUENCES).fetchall():
            if name == table:
                (highest,) = self.db.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()
                if (next_one := max(last, highest)) > 0:
                    self.db.execute("SELECT setval(pg_get_serial_sequence(?, ?), ?)", (table, column, next_one))

    def set_shards(self, count: int) -> None:
        self.db.execute("DELETE FROM shard WHERE id >= ?", (count,))
        for shard in range(count):
            self.db.execute("INSERT INTO shard VALUES (?, NULL, 0, NULL) ON CONFLICT DO NOTHING", (shard,))


def _alone(db: Connection, where: str) -> None:
    """Waits for the lock of a gateway that has just ended, which the server frees once it notices that."""
    db.execute("SELECT set_config('lock_timeout', ?, false)", (GATEWAY_END_TIMEOUT,))
    try:
        db.execute("SELECT pg_advisory_lock(?, ?)", RUNS)
    except LockNotAvailable:
        raise StoreUnavailable("served", where) from None
    db.execute("RESET lock_timeout")


@contextmanager
def open_whole(url: str, *, new: bool = False) -> Generator[WholeDatabase]:
    """`new`: for a copy; the database may be empty."""
    where = address(url)
    with fault_in(where), closing(connect(url)) as db:
        _alone(db, where)
        if new:
            migrate(db, where, migrations(), SHARDS)
        else:
            refuse_strange(db, where, migrations())
        db.execute("SELECT pg_advisory_lock(?, ?)", MIGRATING)  # a gateway that starts waits for it
        refuse_left_behind(db, where, migrations()[-1].number, most=0)
        db.shards = count_shards(db)
        with db.db.transaction():
            yield WholeDatabase(db, where)
