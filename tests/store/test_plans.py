"""Nothing gets slower as the store fills up: no statement of a message's way reads a whole table."""

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rejoinder.store.base import OperatorStore, SharedStore
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.operator import open_for_operator
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing.store_contract import StoreContract

SMALL = {"gateway", "sqlite_sequence", "run", "job", "job_before", "room_log", "named_lease", "home_request"}
"""One row; one for each of a few tables; one for each run there is now; one for each account; one for each job of the
clock, also in the migration that makes the table again; one for each request that waits for its owner."""

OF_WHAT_WAITS = {"inbox_new", "turn_open", "turn_input_untold", "part_in_flight", "part_unended", "session_touched"} | {
    "inbox_quarantined",
    "inbox_wanted",
    "turn_wanted",
    "turn_quarantined",
    "subagent_open",
    "subagent_started",
    "hook_event_waiting",
}
"""Indexes that hold only what is not over, or are read from one end for as long as asked."""

OVERVIEWS = (
    "UPDATE hook_event SET due = ? WHERE state = 'waiting' AND due >",  # once, at a start
    "GROUP BY hook, state",  # an operator asks how hooks are doing
    "FROM hook_event ORDER BY id LIMIT",  # the sweep looks at the oldest
    "GROUP BY state",  # the census counts everything
    "sqlite_schema",
    "DELETE FROM",  # the sweep looks for what is old, and each step has an end
    "SELECT id FROM turn WHERE closed <",
    "FROM inbox ORDER BY id",  # and stops at what is young
    "FROM part JOIN place ON place.id = part.place WHERE part.receipt =",  # an operator asks what became of it
    "FROM place JOIN message ON message.place = place.id AND (",  # an operator names a message, but no chat
    "SELECT count(*) FROM session",
    "SET\n  conceded =",  # a migration, once
    "SET overheard = 1",
    "SELECT key FROM session WHERE instr",
    "SELECT 'message', message, channel",  # an operator asks what was put aside
    "FROM knock ORDER BY",
    "FROM shard",  # there are few shards and processes
    "UPDATE shard",
    "FROM process",
    "UPDATE process",
    "UPDATE place SET home = coalesce",  # a migration
    "INSERT INTO place",  # SQLite plans for a deferred constraint that is never there
)


CHECK = re.compile(r"SELECT body FROM \w+")
"""Reads everything, and is there for that."""


DURABLE = re.compile("synchronous = FULL")
"""A plan is the same without waiting for the disk."""


class Watching(Connection):
    """Remembers the plan of every statement it carries out."""

    plans: dict[str, list[str]]

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        self._remember(sql, *arguments)
        return super().execute(DURABLE.sub("synchronous = OFF", sql), *arguments)

    def change(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        self._remember(sql, *arguments)
        return super().change(sql, *arguments)

    def _remember(self, sql: str, *arguments: Any) -> None:
        if sql not in self.plans and sql.split(maxsplit=1)[0] in ("SELECT", "UPDATE", "INSERT", "DELETE"):
            self.plans[sql] = [row[3] for row in super().execute(f"EXPLAIN QUERY PLAN {sql}", *arguments)]


class Contract(StoreContract):
    def open(self, folder: Path) -> SharedStore:
        return open_store(f"sqlite:{folder / 'rejoinder.db'}")

    def operator(self, folder: Path) -> OperatorStore:
        return open_for_operator(f"sqlite:{folder / 'rejoinder.db'}")


async def test_no_message_reads_a_whole_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statements are those the contract leads to."""
    connect = sqlite3.connect
    plans: dict[str, list[str]] = {}
    monkeypatch.setattr(Watching, "plans", plans, raising=False)
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "factory": Watching}))
    for name in dir(Contract):
        if name.startswith("test_"):
            (tmp_path / name).mkdir()
            await getattr(Contract(), name)(tmp_path / name)
    assert len(plans) > 60
    scans = [
        f"{step}: {sql}"
        for sql, steps in plans.items()
        for step in steps
        if step.startswith("SCAN")
        and "CONSTANT ROW" not in step
        and step.split()[1] not in SMALL
        and step.split()[-1] not in OF_WHAT_WAITS
        if not any(overview in sql for overview in OVERVIEWS) and not CHECK.fullmatch(sql)
    ]
    assert not scans, "\n".join(scans)
    sorts = [sql for sql, steps in plans.items() for step in steps if "TEMP B-TREE" in step and "LIMIT 1" in sql]
    assert not sorts, "who wants one finds it in order:\n" + "\n".join(sorts)
