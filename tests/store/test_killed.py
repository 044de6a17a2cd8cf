"""kill -9 in the middle of it: nothing confirmed is lost, nothing is there twice (DU-1, DU-12, DU-20)."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from rejoinder.crashpoint import ONCE, VARIABLE
from rejoinder.store.base import Accept, RecoveryRows
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing.store_contract.given import NOW

PROGRAM = [sys.executable, str(Path(__file__).with_name("killed_writer.py"))]
KILLED = -9
Confirmed = dict[str, set[str]]


def live(url: str, life: str, *, rounds: int = 1000, lines: int | None = None, crash_at: str = "") -> Confirmed:
    """Runs the program until it ends, or kills it after so many confirmations."""
    environment = {**os.environ, VARIABLE: crash_at}
    confirmed: Confirmed = defaultdict(set)
    with subprocess.Popen([*PROGRAM, url, life, str(rounds)], stdout=subprocess.PIPE, text=True, env=environment) as it:
        assert it.stdout is not None
        for count, line in enumerate(it.stdout, 1):
            if line.endswith("\n"):  # a line cut by the end was confirmed to nobody
                what, name = line.split()
                confirmed[what].add(name)
            if count == lines:
                it.kill()
        it.wait()
        assert it.returncode == (KILLED if lines or crash_at else 0)
    return confirmed


def recovered(url: str) -> RecoveryRows:
    async def look() -> RecoveryRows:
        store = open_store(url)
        try:
            await store.check()
            lease = await store.claim(0, "the next")
            assert lease is not None
            return await store.owned(lease).recover(NOW)
        finally:
            await store.close()

    return asyncio.run(look())


def column(path: Path, sql: str) -> list[str]:
    db = sqlite3.connect(path)
    try:
        return [row[0] for row in db.execute(sql)]
    finally:
        db.close()


@pytest.mark.parametrize("lines", [1, 17, 100, 400])
def test_nothing_confirmed_is_lost_and_nothing_is_twice(tmp_path: Path, lines: int) -> None:
    """Killed after any number of confirmations, and once more: each is there once, in the state that was confirmed."""
    path = tmp_path / "rejoinder.db"
    confirmed: Confirmed = defaultdict(set)
    for life in ("a", "b"):
        for what, names in live(f"sqlite:{path}", life, lines=lines).items():
            confirmed[what] |= names
    recovery = recovered(f"sqlite:{path}")
    events = column(path, "SELECT event FROM inbox")
    assert len(events) == len(set(events))
    assert confirmed["accepted"] <= set(events)
    sent = column(
        path, "SELECT substr(key, 5) FROM part WHERE state = 'sent' AND receipt = 'receipt-' || substr(key, 5)"
    )
    assert confirmed["sent"] <= set(sent)
    unknown = {part.body.decode() for part in recovery.unknown}
    assert confirmed["sending"] <= set(sent) | unknown
    assert not set(sent) & unknown
    undecided = {event.inbound.event_id for event in recovery.events}
    interrupted = {put.event.inbound.event_id for turn in recovery.turns for put in turn.inputs}
    assert undecided | interrupted == set(events) - set(sent), "what was not finished is found again"
    assert not undecided & interrupted


def test_the_cursor_never_runs_ahead(tmp_path: Path) -> None:
    """DU-1: whatever the cursor says was read is in the inbox."""
    path = tmp_path / "rejoinder.db"
    live(f"sqlite:{path}", "a", lines=50)
    recovered(f"sqlite:{path}")
    assert set(column(path, "SELECT CAST(substr(body, 5) AS TEXT) FROM cursor")) <= set(
        column(path, "SELECT event FROM inbox")
    )


def test_killed_inside_the_inbox_transaction(tmp_path: Path) -> None:
    """K3: nothing of the group is there, and nobody was told that it is."""
    path = tmp_path / "rejoinder.db"
    confirmed = live(f"sqlite:{path}", "a", crash_at="K3")
    assert confirmed.keys() == {"opened"}
    assert recovered(f"sqlite:{path}").events == ()


def test_killed_between_commit_and_acknowledgement(tmp_path: Path) -> None:
    """K4: it is there though nobody was told; delivered again it is known."""
    path = tmp_path / "rejoinder.db"
    confirmed = live(f"sqlite:{path}", "a", crash_at="K4")
    assert confirmed.keys() == {"opened"}
    kept = [event.inbound for event in recovered(f"sqlite:{path}").events]
    assert kept

    async def redeliver() -> None:
        store = open_store(f"sqlite:{path}")
        assert await store.write(Accept(tuple(kept), NOW)) == ()
        await store.close()

    asyncio.run(redeliver())


@pytest.mark.parametrize("statement", [1, 5, 20])
def test_killed_during_a_migration(tmp_path: Path, statement: int) -> None:
    """K26: the schema is the old one or the new one, never between; the next start migrates."""
    path = tmp_path / "rejoinder.db"
    assert live(f"sqlite:{path}", "a", crash_at=f"K26:{statement}") == {}
    assert column(path, "SELECT count(*) FROM sqlite_schema") == [0]
    assert live(f"sqlite:{path}", "b", rounds=1)["done"] == {"b"}


def test_killed_during_a_sweep(tmp_path: Path) -> None:
    """K26: a sweep is one transaction; cut off, it has removed nothing."""
    path = tmp_path / "rejoinder.db"
    live(f"sqlite:{path}", "a", rounds=2)
    before = column(path, "SELECT event FROM inbox ORDER BY id")
    program = f"""
import asyncio
from datetime import timedelta, datetime, UTC
from rejoinder.store.base import Retention, Sweep
from rejoinder.store.sqlite.store import open_store
later = datetime.now(UTC) + timedelta(days=31)
async def main():
    store = open_store("sqlite:{path}")
    print(await store.write(Sweep(Retention(later), later)))
    await store.close()
asyncio.run(main())
"""
    for crash_at, status, left in (("K26", KILLED, before), ("", 0, [])):
        environment = {**os.environ, VARIABLE: crash_at}
        assert subprocess.run([sys.executable, "-c", program], env=environment).returncode == status
        assert column(path, "SELECT event FROM inbox ORDER BY id") == left


def test_a_crash_point_is_inert_unless_named(tmp_path: Path) -> None:
    """DU-20: without the variable, or with another point in it, nothing happens."""
    assert live(f"sqlite:{tmp_path / 'a.db'}", "a", rounds=1)["done"] == {"a"}
    program = "from rejoinder.crashpoint import crashpoint; crashpoint('K3'); print('alive')"
    for named, status in (("", 0), ("K4", 0), ("K3:2", 0), ("K3", KILLED), ("K3:1", KILLED)):
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, VARIABLE: named}, capture_output=True)
        assert done.returncode == status, named
    armed = tmp_path / "armed"
    for status in (0, KILLED):  # with a file named besides, it waits for the file
        environment = {**os.environ, VARIABLE: "K3", ONCE: str(armed)}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True)
        assert done.returncode == status
        armed.touch()
