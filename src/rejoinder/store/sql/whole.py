"""Work on a whole store while no gateway runs on it: copying it into another engine, and moving homes between shards
(SC-23, SC-25).

Rule 1: everything is one transaction of the store that is changed.
Rule 2: the copy is read again and compared: the rows of each table by count, and by a sum of hashes that does not
        depend on their order. Shards and leases belong to the engine, and are left out.
"""

import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from rejoinder.errors import BadUse, Unreadable
from rejoinder.events import Inbound
from rejoinder.session import route_home, session_home, shard_of
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sql.schema import migrations
from rejoinder.store.sql.values import Row, route_from, unpack_inbound

OF_THE_ENGINE: Final = frozenset({"gateway", "shard", "process", "named_lease"})
"""Tables about the processes that serve the store, not its contents."""
OF_THE_GATEWAY: Final = {"fact": "WHERE scope <> 'rejoinder/commits'"}
"""Rows that belong to a process."""
NUL, SHOWN_NUL = "\0", "\N{SYMBOL FOR NULL}"
PAGE_ROWS: Final = 200

_TABLES = re.compile(r"^(?:CREATE TABLE (\w+)|DROP TABLE (\w+)|ALTER TABLE (\w+) RENAME TO (\w+))", re.MULTILINE)


def tables() -> tuple[str, ...]:
    """The tables with contents, in an order in which no row precedes one that it refers to."""
    found: dict[str, None] = {}
    for step in migrations():
        for made, dropped, before, after in _TABLES.findall(step.sql):
            found.pop(dropped or before, None)
            if made or after:
                found[made or after] = None
    return tuple(name for name in found if name not in OF_THE_ENGINE)


class WholeStore:
    """A store that this process has to itself. Engines override the methods below."""

    def __init__(self, db: SqlConnection, where: str) -> None:
        self.db = db
        self.where = where

    def columns(self, table: str) -> tuple[str, ...]:
        raise NotImplementedError

    def pages(self, sql: str, size: int = PAGE_ROWS) -> Iterator[list[Row]]:
        """All rows that a statement finds, some at a time; no other statement runs meanwhile."""
        raise NotImplementedError

    def numbers(self) -> dict[str, int]:
        """The tables that number their rows, and the last number of each."""
        raise NotImplementedError

    def continue_numbers(self, table: str, last: int) -> None:
        """Makes sure that no row gets a number that another row has had."""
        raise NotImplementedError

    def set_shards(self, count: int) -> None:
        raise NotImplementedError


class Copied(NamedTuple):
    table: str
    rows: int


class CopyDiffers(Exception):
    """The copied rows differ from those that were read."""


def copy(source: WholeStore, target: WholeStore, told: Callable[[str], None] = lambda _: None) -> tuple[Copied, ...]:
    names = tables()
    for table in names:
        if target.db.execute(f"SELECT 1 FROM {_rows_of(table)} LIMIT 1").fetchone() is not None:
            raise BadUse(f"{target.where} has rows in the table {table} already; copy into an empty store")
    sums = {table: _copy_table(source, target, table, told) for table in names}
    for table, last in source.numbers().items():
        target.continue_numbers(table, last)
    (generation,) = source.db.execute("SELECT generation FROM gateway").fetchone()
    sql = "UPDATE gateway SET generation = ? WHERE generation < ?"
    target.db.execute(sql, (generation, generation))
    reshard(target.db, target.db.shards)
    for table in names:
        told(f"checking {table}")
        if (found := _sum(target, table, source.columns(table))) != sums[table]:
            raise CopyDiffers(f"{table}: {sums[table][0]} rows were read and {found[0]} written, or their bytes differ")
    return tuple(Copied(table, rows) for table, (rows, _) in sums.items())


def _copy_table(source: WholeStore, target: WholeStore, table: str, told: Callable[[str], None]) -> tuple[int, int]:
    columns = source.columns(table)
    put = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    count = hashes = 0
    for page in source.pages(f"SELECT {', '.join(columns)} FROM {_rows_of(table)}"):
        told(f"{table}: {count:,} rows")
        target.db.executemany(put, page)
        count += len(page)
        hashes += sum(_hash(row, columns) for row in page)
    return count, hashes


def _sum(store: WholeStore, table: str, columns: tuple[str, ...]) -> tuple[int, int]:
    count = hashes = 0
    for page in store.pages(f"SELECT {', '.join(columns)} FROM {_rows_of(table)}"):
        count += len(page)
        hashes += sum(_hash(row, columns) for row in page)
    return count, hashes


def _rows_of(table: str) -> str:
    return f"{table} {OF_THE_GATEWAY.get(table, '')}"


def _hash(row: Row, columns: tuple[str, ...]) -> int:
    """A hash that is the same for the same row in every engine. PostgreSQL cannot store a NUL in a text, and has a sign
    instead."""
    digest = blake2b(digest_size=16)
    for name, value in zip(columns, row, strict=True):
        if name == "shard":
            continue
        kept = value.replace(NUL, SHOWN_NUL).encode() if isinstance(value, str) else value
        shown = kept if isinstance(kept, bytes) else repr(kept).encode()
        digest.update(b"%s %d:%s" % (type(value).__name__.encode(), len(shown), shown))
    return int.from_bytes(digest.digest(), "big")


# --- homes and shards ---------------------------------------------------------------------------


def rehome(store: WholeStore, shards: int, home_of: Callable[[Inbound], str | None]) -> int:
    """Gives every place the home of its latest message by the present settings, and every row the shard of its home.
    `home_of` returns None if the message's channel is not configured, or if it does not say whose chat it is in.
    Returns how many places have changed their home."""
    moved = 0
    for id, home in store.db.execute("SELECT id, home FROM place ORDER BY id").fetchall():
        new = _latest_home(store.db, id, home_of)
        if new is not None and new != home:
            store.db.execute("UPDATE place SET home = ? WHERE id = ?", (new, id))
            moved += 1
    store.set_shards(shards)
    reshard(store.db, shards)
    return moved


def _latest_home(db: SqlConnection, place: int, home_of: Callable[[Inbound], str | None]) -> str | None:
    sql = (
        "SELECT inbox.body FROM turn JOIN turn_input i ON i.turn = turn.id JOIN inbox ON inbox.id = i.event "
        "WHERE turn.place = ? ORDER BY inbox.id DESC"
    )
    messages = (_inbound(body) for (body,) in db.execute(sql, (place,)))
    homes = (home_of(message) for message in messages if message is not None)
    return next((home for home in homes if home is not None), None)


def reshard(db: SqlConnection, shards: int) -> None:
    """Puts every row into the shard of its home."""
    places: dict[tuple[Any, ...], int] = {}
    for id, home, *route in db.execute("SELECT id, home, channel, chat, thread, account FROM place").fetchall():
        places[tuple(route)] = shard = shard_of(home, shards)
        db.change("UPDATE place SET shard = ? WHERE id = ?", (shard, id))
    for table in ("part", "message"):
        db.change(f"UPDATE {table} SET shard = (SELECT shard FROM place WHERE place.id = {table}.place)")
    for key, home in db.execute("SELECT key, home FROM session").fetchall():
        db.change("UPDATE session SET shard = ? WHERE key = ?", (shard_of(home, shards), key))
    for table in ("turn", "turn_input", "subagent", "home_request"):
        for (session,) in db.execute(f"SELECT DISTINCT session FROM {table}").fetchall():
            owner = (shard_of(session_home(session), shards), session)
            db.change(f"UPDATE {table} SET shard = ? WHERE session = ?", owner)
    db.change("UPDATE question SET shard = coalesce((SELECT shard FROM turn WHERE turn.id = question.turn), 0)")
    for id, body in db.execute("SELECT id, body FROM inbox").fetchall():
        inbound = _inbound(body)
        if inbound is None:  # from another version: a process that can read it finds it in the first shard
            shard = 0
        else:
            route = inbound.route
            here = (route.channel, route.chat, route.thread or "", route.account)
            shard = places.get(here, shard_of(route_home(route_from(here)), shards))
        db.change("UPDATE inbox SET shard = ? WHERE id = ?", (shard, id))
    its_session = "(SELECT min(i.shard) FROM turn_input i WHERE i.event = inbox.id)"  # whatever the home of its chat is
    db.change(f"UPDATE inbox SET shard = coalesce({its_session}, shard)")


def _inbound(body: bytes) -> Inbound | None:
    try:
        return unpack_inbound(body)
    except (Unreadable, Damaged):
        return None
