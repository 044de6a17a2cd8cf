"""Schema versions go forward, each in one transaction; a newer one is refused (DU-14)."""

import sqlite3

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.sql.schema import Migration, migrations, statements
from rejoinder.store.sqlite.connect import OURS
from rejoinder.store.sqlite.connection import Connection


def migrate(db: Connection, where: str, steps: list[Migration]) -> None:
    version = _version(db, where, steps)
    for step in steps:
        if step.number > version:
            _apply(db, step)
    if _schema(db) != _fresh_schema(steps):
        raise StoreUnavailable("corrupt", where, "its tables are not as they were made")


def refuse_strange(db: Connection, where: str, steps: list[Migration]) -> None:
    """For callers that do not migrate: only a store of this very version can be read and written."""
    version = _version(db, where, steps)
    if version == 0:
        raise StoreUnavailable("missing", where, "the file is empty")
    if version < steps[-1].number:
        raise StoreUnavailable("older", where, f"schema {version}, this version has {steps[-1].number}")


def _version(db: Connection, where: str, steps: list[Migration]) -> int:
    """The version of the schema; 0 for an empty file."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > steps[-1].number:
        raise StoreUnavailable("newer", where, f"schema {version}, this version knows up to {steps[-1].number}")
    return version


def _schema(db: Connection) -> list[tuple[str | None, ...]]:
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").fetchall()


def _fresh_schema(steps: list[Migration]) -> list[tuple[str | None, ...]]:
    fresh = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
    try:
        for step in steps:
            for statement in statements(step.sql):
                fresh.execute(statement)
        return _schema(fresh)
    finally:
        fresh.close()


def _apply(db: Connection, step: Migration) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(step.sql):
            db.execute(statement)
            crashpoint("K26")
        db.execute(f"PRAGMA application_id = {OURS}")
        db.execute(f"PRAGMA user_version = {step.number}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


__all__ = ["Migration", "migrate", "migrations", "refuse_strange", "statements"]
