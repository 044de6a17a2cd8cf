"""Migrates the schema forward, each version in one transaction; an empty file gets all versions in one. A newer schema
is refused (DU-14)."""

import sqlite3
from collections.abc import Sequence
from functools import cache

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.store.sql.schema import Migration, migrations, statements
from rejoinder.store.sqlite.connect import OURS
from rejoinder.store.sqlite.connection import Connection

Schema = list[tuple[str | None, ...]]


def migrate(db: Connection, where: str, steps: Sequence[Migration]) -> None:
    version = _version(db, where, steps)
    if where != ":memory:" and not _schema(db):
        _apply(db, *steps)  # nothing to compare: everything has just been made
        return
    fresh, schema = _fresh(tuple(steps))
    if where == ":memory:":
        _copy(fresh, db)
    else:
        for step in steps:
            if step.number > version:
                _apply(db, step)
    if _schema(db) != schema:
        raise StoreUnavailable("corrupt", where, "its tables differ from its schema")


def refuse_strange(db: Connection, where: str, steps: Sequence[Migration]) -> None:
    """For callers that do not migrate: they can only read and write a store of exactly this version."""
    version = _version(db, where, steps)
    if version == 0:
        raise StoreUnavailable("missing", where, "the file is empty")
    if version < steps[-1].number:
        raise StoreUnavailable("older", where, f"schema {version}, this version has {steps[-1].number}")


def _version(db: Connection, where: str, steps: Sequence[Migration]) -> int:
    """The version of the schema; 0 for an empty file."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > steps[-1].number:
        raise StoreUnavailable("newer", where, f"schema {version}, this version knows up to {steps[-1].number}")
    return version


def _schema(db: Connection) -> Schema:
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").fetchall()


@cache
def _fresh(steps: tuple[Migration, ...]) -> tuple[bytes, Schema]:
    """An empty store and its schema. All steps together take a while, so the result is cached."""
    db = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
    try:
        for step in steps:
            for statement in statements(step.sql):
                db.execute(statement)
        _stamp(db, steps[-1])
        return db.serialize(), _schema(db)
    finally:
        db.close()


def _copy(fresh: bytes, db: Connection) -> None:
    source = sqlite3.connect(":memory:")
    try:
        source.deserialize(fresh)
        source.backup(db)
    finally:
        source.close()


def _stamp(db: Connection, step: Migration) -> None:
    db.execute(f"PRAGMA application_id = {OURS}")
    db.execute(f"PRAGMA user_version = {step.number}")


def _apply(db: Connection, *steps: Migration) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for step in steps:
            for statement in statements(step.sql):
                db.execute(statement)
                crashpoint("K26")
        _stamp(db, steps[-1])
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


__all__ = ["Migration", "migrate", "migrations", "refuse_strange", "statements"]
