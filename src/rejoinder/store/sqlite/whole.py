"""A file that this process has to itself, under the same lock as a gateway."""

import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rejoinder.errors import BadUse
from rejoinder.store.sql.values import Row
from rejoinder.store.sql.whole import PAGE_ROWS, WholeStore, tables
from rejoinder.store.sqlite.address import MEMORY, existing, path_of
from rejoinder.store.sqlite.connect import checked
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.faults import fault_in
from rejoinder.store.sqlite.lock import Lock
from rejoinder.store.sqlite.migrate import migrate, migrations
from rejoinder.store.sqlite.page_log import import_page_log

PATIENCE = 10.0


class WholeFile(WholeStore):
    db: Connection

    def columns(self, table: str) -> tuple[str, ...]:
        return tuple(name for _, name, *_ in self.db.execute(f"PRAGMA table_info({table})"))

    def pages(self, sql: str, size: int = PAGE_ROWS) -> Iterator[list[Row]]:
        found = self.db.execute(sql)
        while page := found.fetchmany(size):
            yield page

    def numbers(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for table in tables():
            keys = [(name, kind) for _, name, kind, _, _, key in self.db.execute(f"PRAGMA table_info({table})") if key]
            if len(keys) == 1 and keys[0][1] == "INTEGER":
                found[table] = self.db.last_row(table, keys[0][0])
        return found

    def continue_numbers(self, table: str, last: int) -> None:
        self.db.continue_numbers(table, last)

    def set_shards(self, count: int) -> None:
        if count != 1:
            raise BadUse("a file is one shard; several need PostgreSQL")


@contextmanager
def open_whole(url: str, *, new: bool = False) -> Generator[WholeFile]:
    """`new`: for a copy; an existing file is refused. The copy has another name until it is complete, so what a killed
    copy leaves is no store and is not in the way of the next one."""
    if url == MEMORY:
        raise BadUse(f"{MEMORY} is in the memory of its gateway; no other program can read it")
    path = path_of(url)
    if new:
        _refuse_existing(path)
    else:
        existing(url)
    file = f"{path}.copy" if new else path
    lock = Lock(Path(file))
    try:
        if new:
            _remove(f"{file}-wal", f"{file}-shm")
            os.truncate(file, 0)
        with fault_in(path), closing(checked(file, PATIENCE)) as db:
            migrate(db, path, migrations())
            if not new:  # no gateway of this version may have opened it yet
                db.draw_numbers()
                import_page_log(db, path)
            db.execute("BEGIN IMMEDIATE")
            yield WholeFile(db, path)
            if new:
                db.execute("UPDATE shard SET holder = NULL, lease_until = NULL")
            db.execute("COMMIT")
            if new:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if new:
            _refuse_existing(path)  # a gateway may have been started on it meanwhile
            Path(file).replace(path)
    except BaseException:
        if new:
            _remove(file, f"{file}-wal", f"{file}-shm")
        raise
    finally:
        lock.release()
        if new:
            _remove(f"{file}.lock")


def _refuse_existing(path: str) -> None:
    if Path(path).exists():
        raise BadUse(f"{path} exists already; name a file that does not")


def _remove(*files: str) -> None:
    for file in files:
        Path(file).unlink(missing_ok=True)
