"""The operator's access: reads, and a few short fenced writes, while a gateway runs on the file.

Rule 1: it takes no lock and takes over no claim: the gateway keeps what it has claimed.
Rule 2: a write is one transaction, for which the gateway's writer waits as for a slow disk.
Rule 3: it takes only verbs of `OPERATOR_VERBS`. The gateway notices a write within a second
        (`SharedStore.on_external_change`).
"""

import asyncio
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from rejoinder.errors import BadUse
from rejoinder.store.base import OPERATOR_VERBS, Verb
from rejoinder.store.sql.perform import perform
from rejoinder.store.sqlite.address import existing
from rejoinder.store.sqlite.connect import connect, refuse_read_only
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.faults import fault_in
from rejoinder.store.sqlite.lock import holder
from rejoinder.store.sqlite.store import SqliteReader

Verbs = tuple[Verb[Any], ...]

PATIENCE = 10.0
"""Seconds to wait for a lock of the gateway."""


class SqliteOperatorStore(SqliteReader):
    def __init__(self, path: str, patience: float) -> None:
        super().__init__(path, patience)
        self._database: int | None = None

    async def write(self, verb: Verb[Any], /, *others: Verb[Any]) -> Any:
        verbs = (verb, *others)
        for each in verbs:
            if type(each) not in OPERATOR_VERBS:
                raise BadUse(f"{type(each).__name__} is the gateway's own; other processes may write only a few verbs")
        results = await asyncio.get_running_loop().run_in_executor(self._threads, self._carry_out, verbs)
        return results if others else results[0]

    async def gateway(self) -> str | None:
        if self._database is None:
            self._database = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        return holder(Path(self._path), self._database)

    async def close(self) -> None:
        """Closes the descriptor last, because that drops the locks of open connections."""
        await super().close()
        if self._database is not None:
            os.close(self._database)
            self._database = None

    def _carry_out(self, verbs: Verbs) -> tuple[Any, ...]:
        with fault_in(self._path):
            self._connect().close()  # refuses a file that is not our store before anything can be changed in it
            refuse_read_only(self._path)
            db = connect(self._path, self._patience, exists=True)
            try:
                return _in_one_step(db, verbs)
            finally:
                db.close()


def _in_one_step(db: Connection, verbs: Verbs) -> tuple[Any, ...]:
    db.execute("BEGIN IMMEDIATE")
    try:
        results = perform(db, verbs)
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # closing rolls back as well
            db.execute("ROLLBACK")
        raise
    return results


def open_for_operator(url: str) -> SqliteOperatorStore:
    """Opens a store for an operator, whether a gateway runs on it or not."""
    return SqliteOperatorStore(existing(url), PATIENCE)
