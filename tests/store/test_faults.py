"""DU-15: what keeps the store from keeping things is said, nothing is acknowledged, and it goes on afterwards."""

import asyncio
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.session import Session
from rejoinder.store.base import (
    Accept,
    AgentSession,
    Destination,
    IndexedMessage,
    NoteMessages,
    PlanParts,
    PutAgentSession,
    PutSession,
    RouteEvent,
    SettleEvent,
    StoredCursor,
)
from rejoinder.store.sqlite import store as sqlite
from rejoinder.store.sqlite.store import SqliteStore, open_reader, open_store
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.store_contract.given import HERE, NOW, an_inbound, an_intent
from tests import disks

BIG = "x" * 20_000
NOBODY = 65534


@asynccontextmanager
async def opened(path: Path, *, patience: float = 0.05) -> AsyncIterator[SqliteStore]:
    store = open_store(f"sqlite:{path}", patience=patience)
    try:
        yield store
    finally:
        await store.close()


async def fill_up(store: SqliteStore) -> tuple[int, StoreUnavailable]:
    """Accepts messages until one is refused: how many were taken, and the refusal."""
    for number in range(10_000):
        try:
            await store.write(
                Accept((an_inbound(number, text=BIG),), NOW, StoredCursor("telegram", "offset", f"{number}"))
            )
        except StoreUnavailable as full:
            return number, full
    raise AssertionError("nothing was ever full")


async def says(store: SqliteStore, fault: str) -> None:
    health = await store.health()
    assert health.fault == fault
    assert health.sentence.endswith(".")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disks.small(tmp_path, megabytes=2) as disk:
        yield disk


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process may grow beyond that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The message that did not fit is refused with its cursor; with space again everything goes on."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"\0" * 1_000_000)
    async with opened(small_disk / "rejoinder.db") as store:
        taken, refusal = await fill_up(store)
        assert refusal.fault == "full"
        assert "Free some space" in str(refusal)
        disks.fill(small_disk / "rest")
        await says(store, "full")
        await says(store, "full")
        assert await store.cursor("telegram", "offset") == f"{taken - 1}"
        assert len((await store.recover(NOW)).events) == taken
        (small_disk / "rest").unlink()
        ballast.unlink()
        assert (await store.health()).fault is None
        assert await store.write(Accept((an_inbound(taken, text=BIG),), NOW))
    assert "Nothing is acknowledged until then." in caplog.text
    assert "can be written again" in caplog.text


async def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """The same where nobody is root: a limit on the size of files."""
    async with opened(tmp_path / "rejoinder.db") as store:
        with largest_file(1_000_000):
            taken, refusal = await fill_up(store)
            assert refusal.fault in ("full", "unreachable")
        with largest_file(1):
            await says(store, refusal.fault)
        assert (await store.health()).fault is None
        assert await store.write(Accept((an_inbound(taken),), NOW))
        assert len((await store.recover(NOW)).events) == taken + 1


@contextmanager
def holding(command: list[str]) -> Iterator[Callable[[], None]]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "held\n"
        stdin = other.stdin

        def release() -> None:
            stdin.close()
            other.wait()

        yield release


WRITES = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('BEGIN IMMEDIATE')
print('held', flush=True)
sys.stdin.read()
"""


async def test_another_program_writes_and_does_not_end(tmp_path: Path) -> None:
    """The writer waits for as long as it has patience, then says so; nothing is lost when it can go on."""
    path = tmp_path / "rejoinder.db"
    async with opened(path) as store:
        with holding([sys.executable, "-c", WRITES, str(path)]) as release:
            with pytest.raises(StoreUnavailable, match="Another program holds it") as refusal:
                await store.write(Accept((an_inbound(1),), NOW))
            assert refusal.value.fault == "locked"
            await says(store, "locked")
            told = asyncio.Event()
            store.on_external_change(lambda _: told.set())
            release()
        assert (await store.health()).fault is None
        assert await store.write(Accept((an_inbound(1),), NOW))
        await asyncio.wait_for(told.wait(), PATIENCE)  # the new connection cannot know what the old one had seen


async def test_who_asks_how_a_locked_store_is_does_not_wait_for_it(tmp_path: Path, monkeypatch: Any) -> None:
    """DU-15: `/health` says so while the writer goes on waiting, however long its patience is."""
    path = tmp_path / "rejoinder.db"
    monkeypatch.setattr(sqlite, "HEALTH_SECONDS", 0.01)
    async with opened(path) as store:
        with holding([sys.executable, "-c", WRITES, str(path)]) as release:
            with pytest.raises(StoreUnavailable):
                await store.write(Accept((an_inbound(1),), NOW))
            monkeypatch.setattr(store._writer, "_patience", 600_000)
            async with asyncio.timeout(PATIENCE):
                await says(store, "locked")
            release()
        assert await store.write(Accept((an_inbound(1),), NOW))


async def test_a_store_is_locked_before_the_patience_has_ended(tmp_path: Path, monkeypatch: Any) -> None:
    """DU-15: what came meanwhile is not confirmed, and `/health` does not say that everything is fine."""
    path = tmp_path / "rejoinder.db"
    monkeypatch.setattr(sqlite, "HEALTH_SECONDS", 0.01)
    async with opened(path) as store:
        monkeypatch.setattr(store._writer, "_patience", 600_000)
        with holding([sys.executable, "-c", WRITES, str(path)]) as release:
            written = asyncio.create_task(store.write(Accept((an_inbound(1),), NOW)))

            async def is_noticed() -> bool:
                return (await store.health()).fault is not None

            await until(is_noticed, "the fault that the writer meets")
            await says(store, "locked")
            assert not written.done()
            release()
        assert await written
        assert (await store.health()).fault is None


async def test_a_second_gateway_is_refused(tmp_path: Path) -> None:
    """DU-13: with a sentence that names the process; a reader is welcome, and after the first one ends so is it."""
    path = tmp_path / "rejoinder.db"
    program = "import sys; from rejoinder.store.sqlite import open_store; open_store(sys.argv[1])"
    command = [sys.executable, "-c", program, f"sqlite:{path}"]

    def second() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True)

    async with opened(path) as store:
        await store.write(Accept((an_inbound(1),), NOW))
        refused = second()
        assert refused.returncode == 1
        assert f"a gateway is running on it: process {os.getpid()}" in refused.stderr
        with pytest.raises(StoreUnavailable, match=f"process {os.getpid()}"):
            open_store(f"sqlite:{path}")
        reader = open_reader(f"sqlite:{path}")
        assert len(await reader.events_of("1")) == 1
        await reader.close()
    assert second().returncode == 0


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder of somebody who is not root, and being that person."""
    if os.geteuid() != 0:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
        return
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(0)
        shutil.rmtree(folder)


async def test_a_file_that_may_not_be_written(as_nobody: Path) -> None:
    """A store that can only be read is refused at the start, and taken once it can be written."""
    path = as_nobody / "rejoinder.db"
    async with opened(path) as store:
        await store.write(Accept((an_inbound(1),), NOW))
    path.chmod(0o400)
    with pytest.raises(StoreUnavailable, match="Make the file and its folder writable") as refusal:
        open_store(f"sqlite:{path}")
    assert refusal.value.fault == "read-only"
    path.chmod(0o600)
    async with opened(path) as store:
        assert len((await store.recover(NOW)).events) == 1


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="Check that its folder exists"):
        open_store(f"sqlite:{tmp_path / 'none' / 'rejoinder.db'}")
    with pytest.raises(StoreUnavailable, match="there is no such file"):
        open_reader(f"sqlite:{tmp_path / 'rejoinder.db'}")


async def test_somebody_elses_database(tmp_path: Path) -> None:
    """It is not touched."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (a)")
    other.close()
    with pytest.raises(StoreUnavailable, match=r"It is not a rejoinder store"):
        open_store(f"sqlite:{path}")
    (tmp_path / "text.db").write_text("Dear diary, " * 1000)
    with pytest.raises(StoreUnavailable, match="It is damaged"):
        open_store(f"sqlite:{tmp_path / 'text.db'}")


# --- damage -------------------------------------------------------------------------------------


async def everything(store: SqliteStore) -> tuple[object, ...]:
    """All that people wrote and all that decides what is sent to whom; numbers such as times have no checksum."""
    recovery = await store.recover(NOW)
    return (
        [(event.id, event.inbound) for event in recovery.events],
        [(put.session, put.payload) for line in recovery.backlogs for put in (*line.gathered, *line.singly)],
        await store.cursor("telegram", "offset"),
        [kept.session for kept in await store.sessions()],
        await store.agent_session("s"),
        await store.messages(HERE),
        [(part.key, part.route, part.body) for part in await store.parts_in("planned")],
        [(event.inbound, event.state) for number in range(30) for event in await store.events_of(f"{number}")],
    )


async def furnish(path: Path) -> tuple[object, ...]:
    async with opened(path) as store:
        for number in range(30):
            await store.write(Accept((an_inbound(number),), NOW, StoredCursor("telegram", "offset", f"{number}")))
            told = IndexedMessage(f"{number}", "anna", NOW, text=f"text {number}")
            await store.write(NoteMessages(HERE, (told,)), PlanParts((an_intent(number),), NOW))
        await store.write(RouteEvent(1, (Destination("s", b"payload"),)), SettleEvent(2, "overheard"))
        await store.write(PutSession(Session("s", "helper", NOW, NOW), 0), PutAgentSession("s", AgentSession("saved")))
        return await everything(store)


async def served_by(path: Path) -> object:
    for leftover in ("-wal", "-shm"):
        path.with_name(path.name + leftover).unlink(missing_ok=True)
    try:
        async with opened(path) as store:
            await store.check()
            return await everything(store)
    except StoreUnavailable as refusal:
        return refusal


async def test_a_flipped_bit_is_found_or_harmless(tmp_path: Path) -> None:
    """What is damaged is never served as if it were whole: texts, ids, states and bytes to be sent."""
    path, damaged = tmp_path / "whole.db", tmp_path / "damaged.db"
    whole = await furnish(path)
    image = path.read_bytes()
    found = 0
    faults: set[str] = set()
    written = [position for position, byte in enumerate(image) if byte]
    for position in written[:: len(written) // 120]:
        flipped = bytearray(image)
        flipped[position] ^= 1 << (position % 8)
        damaged.write_bytes(flipped)
        served = await served_by(damaged)
        if isinstance(served, StoreUnavailable):
            faults.add(served.fault)
            found += 1
        else:
            assert served == whole, f"bit {position % 8} of byte {position} was served"
    assert found > 60
    assert faults <= {"corrupt", "foreign", "newer"}


def flip(path: Path, position: int) -> None:
    """From another process: this one would drop SQLite's locks by closing the file."""
    program = (
        "import sys\n"
        "with open(sys.argv[1], 'r+b') as file:\n"
        "    file.seek(int(sys.argv[2])); byte = file.read(1)[0]\n"
        "    file.seek(int(sys.argv[2])); file.write(bytes([byte ^ 1]))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path), str(position)], check=True)


async def test_damage_while_running(tmp_path: Path) -> None:
    """It is told as soon as it is read, stays told, and is over when the file is whole again."""
    path = tmp_path / "rejoinder.db"
    await furnish(path)
    position = path.read_bytes().index(b"part 7")
    async with opened(path) as store:
        flip(path, position)
        with pytest.raises(StoreUnavailable, match="put the latest backup in its place"):
            await store.parts_in("planned")
        await says(store, "corrupt")
        await says(store, "corrupt")
        flip(path, position)
        assert (await store.health()).fault is None
        assert len(await store.parts_in("planned")) == 30
