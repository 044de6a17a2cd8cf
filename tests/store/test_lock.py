"""DU-13: one gateway for one store; who asks whether one runs is in nobody's way."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.store.sqlite.lock import Lock, holder
from rejoinder.store.sqlite.store import open_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "rejoinder.db"


def test_the_holder_is_named_while_it_holds(store: Path) -> None:
    assert holder(store) is None
    held = Lock(store)
    assert holder(store) == f"process {os.getpid()}"
    held.release()
    assert holder(store) is None


def test_a_second_gateway_is_refused_by_name(store: Path) -> None:
    held = Lock(store)
    with pytest.raises(StoreUnavailable, match=f"a gateway is running on it: process {os.getpid()}"):
        Lock(store)
    held.release()
    Lock(store).release()


HOLDS = """
import asyncio, sys
from rejoinder.store.sqlite.store import open_store

async def hold():
    store = open_store("sqlite:" + sys.argv[1])
    await store.check()
    assert await store.claim(0, "the first") is not None
    print("held", flush=True)
    await asyncio.Event().wait()

asyncio.run(hold())
"""


def test_after_kill_9_the_next_start_gets_the_store_at_once(store: Path) -> None:
    """SC-5: the kernel's lock on the database is the lease, and it goes with its process: nothing has to run out."""
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(store)], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(StoreUnavailable, match=f"a gateway is running on it: process {first.pid}"):
            Lock(store)
        first.kill()
        assert first.wait() == -signal.SIGKILL
    asyncio.run(claims_at_once(store))


async def claims_at_once(store: Path) -> None:
    following = open_store(f"sqlite:{store}")
    try:
        await following.check()
        assert await following.claim(0, "the next") is not None
    finally:
        await following.close()


def test_the_file_beside_is_only_a_name(store: Path) -> None:
    """Who removes it lets nobody in; under another name the store is the same."""
    held = Lock(store)
    store.with_name("rejoinder.db.lock").unlink()
    other = store.with_name("other.db")
    other.symlink_to(store)
    for path in (store, other):
        with pytest.raises(StoreUnavailable, match="process unknown"):
            Lock(path)
    held.release()


def test_sqlite_and_those_who_look_leave_the_lock_alone(store: Path) -> None:
    """Its connections come and go; a look takes nothing."""
    held = Lock(store)
    for _ in range(2):
        db = sqlite3.connect(store)
        db.execute("CREATE TABLE IF NOT EXISTS a (b)")
        db.close()
        assert holder(store) == f"process {os.getpid()}"
        with pytest.raises(StoreUnavailable, match="a gateway is running"):
            Lock(store)
    held.release()


def test_it_knows_whether_its_file_is_in_place(store: Path) -> None:
    """DU-15: moved away, replaced, and back."""
    held, elsewhere = Lock(store), store.with_name("elsewhere.db")
    assert held.is_in_place()
    store.rename(elsewhere)
    assert not held.is_in_place()
    store.touch()
    assert not held.is_in_place()
    elsewhere.replace(store)
    assert held.is_in_place()
    held.release()
