"""The steps of the schema, in SQLite's dialect: `store/schema/0001_first.sql` brings a store to version 1, and so
on."""

import sqlite3
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from msgspec import Struct


class Migration(Struct, frozen=True):
    number: int
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """All, in order."""
    found = (each for each in files("rejoinder.store").joinpath("schema").iterdir() if each.name.endswith(".sql"))
    steps = (Migration(int(each.name[:4]), each.read_text("utf-8")) for each in found)
    return tuple(sorted(steps, key=lambda step: step.number))


def statements(sql: str) -> Iterator[str]:
    """The statements one by one, because `executescript` would commit before it begins."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
