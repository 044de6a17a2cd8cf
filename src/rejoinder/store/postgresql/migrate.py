"""The schema of a store in PostgreSQL: the steps that SQLite takes, translated, each in one transaction (SC-23).

Rule 1: one process migrates, under an advisory lock; the others wait for it and find it done.
Rule 2: a step only adds, for one version: an older process beside a newer schema goes on. So a schema that is one step
        ahead is served; further ahead is refused, to those that start and to those that run already.
"""

from collections.abc import Sequence

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.postgresql.connection import OURS, Connection
from rejoinder.store.postgresql.translate import migration
from rejoinder.store.sql.schema import Migration, statements

MIGRATING = (OURS, 1_000_001)
FIRST_HOLDER = "an earlier version"
"""Who holds the shard that the schema itself makes."""
AHEAD = 1
"""How many steps of the schema a process may be behind."""


def migrate(db: Connection, where: str, steps: Sequence[Migration], shards: int) -> None:
    db.execute("SELECT pg_advisory_lock(?, ?)", MIGRATING)
    try:
        done = _done(db, where, steps)
        for step in steps:
            if step.number not in done:
                _apply(db, step)
        _make_shards(db, shards)
    finally:
        db.execute("SELECT pg_advisory_unlock(?, ?)", MIGRATING)


def refuse_strange(db: Connection, where: str, steps: Sequence[Migration]) -> None:
    """For callers that do not migrate."""
    done = _done(db, where, steps)
    if not done:
        raise StoreUnavailable("missing", where, "the database is empty")
    if missing := [step.number for step in steps if step.number not in done]:
        raise StoreUnavailable("older", where, f"step {missing[0]} of its schema is missing")


def refuse_left_behind(db: Connection, where: str, known: int, most: int = AHEAD) -> None:
    """For a process that runs already, up to which step it knows: newer ones may have migrated meanwhile. `most`: by
    how many steps the schema may be ahead; 0 for who has to know all tables."""
    sql = "SELECT count(*), max(number) FROM rejoinder_schema WHERE number > ?"
    ahead, latest = db.execute(sql, (known,)).fetchone()
    if ahead > most:
        raise StoreUnavailable("newer", where, f"schema {latest}, this version knows up to {known}")


def _done(db: Connection, where: str, steps: Sequence[Migration]) -> set[int]:
    """The steps that have been taken; none in an empty database."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    found = {name for (name,) in db.execute(tables)}
    if "rejoinder_schema" not in found:
        if found:
            raise StoreUnavailable("foreign", where, "it has tables of something else")
        return set()
    done = {number for (number,) in db.execute("SELECT number FROM rejoinder_schema")}
    if len(unknown := done - {step.number for step in steps}) > AHEAD:
        raise StoreUnavailable("newer", where, f"schema {max(unknown)}, this version knows up to {steps[-1].number}")
    return done


def _apply(db: Connection, step: Migration) -> None:
    with db.db.transaction():
        db.execute("CREATE TABLE IF NOT EXISTS rejoinder_schema (number BIGINT PRIMARY KEY)")
        for statement in migration(step.number, statements(step.sql)):
            db.db.execute(statement.encode())
            crashpoint("K26")
        db.execute("INSERT INTO rejoinder_schema VALUES (?)", (step.number,))


def _make_shards(db: Connection, shards: int) -> None:
    """The number of shards is that of the first process that opened the store; it never changes (SC-2)."""
    if db.execute("SELECT 1 FROM shard WHERE id = 0 AND holder = ?", (FIRST_HOLDER,)).fetchone() is None:
        return
    with db.db.transaction():
        rows = ((shard,) for shard in range(1, shards))
        db.executemany("INSERT INTO shard VALUES (?, NULL, 0, NULL)", rows)
        db.execute("UPDATE shard SET holder = NULL, lease_until = NULL WHERE id = 0")
