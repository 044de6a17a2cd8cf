"""One text of the schema serves both engines."""

from itertools import groupby

import pytest

from rejoinder.store.postgresql.store import open_store
from rejoinder.store.postgresql.translate import migration, statement
from rejoinder.store.sql.schema import migrations, statements
from rejoinder.store.sqlite.connect import connect
from rejoinder.store.sqlite.migrate import migrate
from tests.postgres import Server, a_database, database_of

KINDS = {"INTEGER": "bigint", "TEXT": "text", "BLOB": "bytea"}


def test_both_end_with_the_same_tables(postgres: Server) -> None:
    """SC-20: the same tables, columns, types, obligations and indexes, whatever the next migration adds."""
    file = connect(":memory:", 0)
    migrate(file, "memory", migrations())
    tables = [name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    ours = {
        (table, name, KINDS[kind], bool(needed or key))
        for table in tables
        if not table.startswith("sqlite_")
        for _, name, kind, needed, _, key in file.execute(f"PRAGMA table_info({table})")
    }
    named = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    indexes = {name for (name,) in file.execute(named)}
    file.close()
    database = database_of(a_database(postgres))
    theirs = {
        (table, column, kind, needed == "NO")
        for table, column, kind, needed in postgres.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = 'public' AND table_name <> 'rejoinder_schema'",
            database,
        )
    }
    assert theirs == ours
    found = {name for (name,) in postgres.execute("SELECT indexname FROM pg_indexes", database)}
    assert indexes <= found


@pytest.mark.parametrize(
    ("sqlite", "postgres", "names"),
    [
        ("SELECT a FROM t WHERE b = ? AND c = ?", "SELECT a FROM t WHERE b = $1 AND c = $2", ()),
        ("UPDATE t SET a = :a WHERE b = :b OR a = :a", "UPDATE t SET a = $1 WHERE b = $2 OR a = $1", ("a", "b")),
        ("SELECT 'it?' || ':no', ?", "SELECT 'it?' || ':no', $1", ()),
        ("UPDATE t SET a = 1 WHERE b IS ?", "UPDATE t SET a = 1 WHERE b IS NOT DISTINCT FROM $1", ()),
        ("SELECT a FROM t INDEXED BY i WHERE instr(a, ?) > 0", "SELECT a FROM t  WHERE strpos(a, $1) > 0", ()),
        ("SELECT a FROM t LIMIT ?", "SELECT a FROM t LIMIT nullif($1, -1)", ()),
        ("SELECT a FROM t WHERE a IS NULL", "SELECT a FROM t WHERE a IS NULL", ()),
    ],
)
def test_words_are_exchanged(sqlite: str, postgres: str, names: tuple[str, ...]) -> None:
    assert statement(sqlite) == (postgres, names)


def test_a_step_that_moves_rows_does_so_once_there_can_be_some() -> None:
    step = "CREATE TABLE t (a INTEGER) STRICT;\nUPDATE t SET a = 1;\nPRAGMA writable_schema = ON;\n"
    assert [*migration(3, statements(step))] == ["CREATE TABLE t (a BIGINT);"]
    assert [*migration(30, statements(step))] == ["CREATE TABLE t (a BIGINT);", "UPDATE t SET a = 1;"]


async def test_processes_that_start_together_migrate_once(postgres: Server) -> None:
    """SC-23: under a lock; whoever comes second finds it done."""
    import asyncio

    url = postgres.url("together")
    postgres.execute("CREATE DATABASE together")
    stores = await asyncio.gather(*(asyncio.to_thread(open_store, url, shards=4) for _ in range(4)))
    assert {store.shards for store in stores} == {4}
    await asyncio.gather(*(store.close() for store in stores))
    steps = postgres.execute("SELECT number FROM rejoinder_schema ORDER BY number", "together")
    assert [number for (number,) in steps] == [step.number for step in migrations()]
    assert all(len([*same]) == 1 for _, same in groupby(steps))


def test_a_store_that_is_ahead(postgres: Server) -> None:
    """SC-23: an older process beside a schema that is one step newer goes on; two steps behind is refused."""
    from rejoinder.errors import StoreUnavailable

    url = a_database(postgres, "one_shard")
    database = database_of(url)
    import asyncio

    postgres.execute("INSERT INTO rejoinder_schema VALUES (9001)", database)
    asyncio.run(open_store(url).close())
    postgres.execute("INSERT INTO rejoinder_schema VALUES (9002)", database)
    with pytest.raises(StoreUnavailable, match="newer rejoinder"):
        open_store(url)


def test_somebody_elses_database(postgres: Server) -> None:
    from rejoinder.errors import StoreUnavailable

    postgres.execute("CREATE DATABASE elses")
    postgres.execute("CREATE TABLE things (id int)", "elses")
    with pytest.raises(StoreUnavailable, match="not a rejoinder store"):
        open_store(postgres.url("elses"))
    assert postgres.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", "elses") == [("things",)]
