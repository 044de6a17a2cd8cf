"""The schema of a store in PostgreSQL: SQLite's migration steps, translated, each in one transaction (SC-23).

Rule 1: one process migrates, under an advisory lock; the others wait for it and find the migration done.
Rule 2: for one version, a step only adds, so that an older process can go on beside the newer schema. So a process
        works with a schema that is one step ahead, and refuses one that is further ahead, both at the start and while
        it runs.
"""

from collections.abc import Sequence

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.postgresql.connection import OURS, Connection
from rejoinder.store.postgresql.translate import migration
from rejoinder.store.sql.schema import Migration, statements

MIGRATING = (OURS, 1_000_001)
FIRST_HOLDER = "an earlier version"
"""The holder of the shard that the schema itself makes."""
AHEAD = 1
"""By how many steps of the schema a process may be behind."""


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
    """Checks a running process, as newer ones may have migrated meanwhile. `known`: the last step it knows. `most`: by
    how many steps the schema may be ahead; 0 for code that has to know all tables."""
    sql = "SELECT count(*), max(number) FROM rejoinder_schema WHERE number > ?"
    ahead, latest = db.execute(sql, (known,)).fetchone()
    if ahead > most:
        raise StoreUnavailable("newer", where, f"schema {latest}, this version knows up to {known}")


def _done(db: Connection, where: str, steps: Sequence[Migration]) -> set[int]:
    """The completed steps; none in an empty database."""
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
    """Makes the shards. Their number is set by the first process that opens the store, and never changes (SC-2)."""
    if db.execute("SELECT 1 FROM shard WHERE id = 0 AND holder = ?", (FIRST_HOLDER,)).fetchone() is None:
        return
    with db.db.transaction():
        rows = ((shard,) for shard in range(1, shards))
        db.executemany("INSERT INTO shard VALUES (?, NULL, 0, NULL)", rows)
        db.execute("UPDATE shard SET holder = NULL, lease_until = NULL WHERE id = 0")
