"""A connection that waits for each answer: for leases, migrations, operators and long reads, each in a thread."""

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from psycopg import RawCursor
from psycopg.conninfo import conninfo_to_dict

from rejoinder.store.postgresql.translate import statement
from rejoinder.store.postgresql.wire import storable
from rejoinder.store.sql.connection import Insertion, Parameters, Row, Rows, SqlConnection
from rejoinder.store.sql.upkeep import draw_opening

CONNECT_TIMEOUT = 5

SETTINGS = {
    "application_name": "rejoinder",
    "connect_timeout": CONNECT_TIMEOUT,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Makes us notice within seconds that a server is gone. Settings in the address take precedence."""


def connect(url: str, *, read_only: bool = False) -> "Connection":
    given = conninfo_to_dict(url)
    settings: dict[str, Any] = {key: value for key, value in SETTINGS.items() if key not in given}
    db = psycopg.connect(url, autocommit=True, cursor_factory=RawCursor, **settings)
    db.read_only = read_only or None
    return Connection(db)


class Connection(SqlConnection):
    def __init__(self, db: psycopg.Connection[Row]) -> None:
        super().__init__()
        self.db = db

    def execute(self, sql: str, parameters: Parameters = (), /) -> Rows:
        text, values = in_its_words(sql, parameters)
        return self.db.execute(text.encode(), [_value(each) for each in values])

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> object:
        pairs = [in_its_words(sql, each) for each in parameters]
        if pairs:
            with self.db.cursor() as cursor:  # in one round trip
                cursor.executemany(pairs[0][0].encode(), [[_value(each) for each in values] for _, values in pairs])

    def insert(self, row: Insertion, values: Row, /) -> int | None:
        new = self.execute(row.sql + " RETURNING id", values).fetchone()
        return None if new is None else new[0]

    def generation_of(self, shard: int) -> int:
        """Takes a lock for which a claim of the shard waits. A stuck process does not keep it for long, because the
        server ends sessions that are idle in a transaction."""
        self.execute(*taking(shard))
        (found,) = self.execute(LATEST, (shard,)).fetchone() or (-1,)
        return found

    def draw_generation(self, shard: int) -> int:
        return draw_opening(self)

    def close(self) -> None:
        self.db.close()


OURS = 0x526A6E72
"""The first half of our advisory locks: "Rjnr"."""


LATEST = "SELECT generation FROM shard WHERE id = ?"


def lock_of(shard: int) -> tuple[int, int]:
    return OURS, shard


def taking(shard: int) -> tuple[str, tuple[int, int]]:
    """The statement that keeps others from claiming the shard until the transaction ends."""
    return "SELECT pg_advisory_xact_lock_shared(?, ?)", lock_of(shard)


def in_its_words(sql: str, parameters: Parameters) -> tuple[str, Sequence[Any]]:
    """The statement in PostgreSQL's dialect, and its values in order."""
    text, names = statement(sql)
    if isinstance(parameters, tuple | list):
        return text, parameters
    return text, [parameters[name] for name in names]


def _value(value: Any) -> Any:
    """The value in a form that the driver takes."""
    match value:
        case bool():
            return int(value)
        case str():
            return storable(value)
        case _:
            return value
