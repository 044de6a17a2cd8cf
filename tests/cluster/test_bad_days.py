"""The database goes away and comes back, and gateways die: nothing is lost, nothing is said twice (SC-22, SC-31)."""

import asyncio
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Accept
from rejoinder.store.postgresql import open_store
from rejoinder.store.postgresql.listening import YOUNG
from rejoinder.store.postgresql.wire import Wire
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.truth import standing
from rejoinder.testing.store_contract.given import NOW, an_inbound
from tests.crash.gateway import Machine
from tests.crash.trial import until_done
from tests.postgres import Server, a_database, install
from tests.store.wire_cut import cuttable

HOW = {"on_unknown": "hold", "mode": "followup", "debounce_ms": 0, "drafts": False}


@pytest.fixture
async def own_server() -> AsyncIterator[Server]:
    """One that a test may stop."""
    install()
    folder = Path(tempfile.mkdtemp(prefix="rejoinder-own-postgres-"))
    server = Server(folder)
    try:
        await asyncio.to_thread(server.start)
        yield server
    finally:
        if server.runs:
            await asyncio.to_thread(server.stop)
        shutil.rmtree(folder, ignore_errors=True)


def answers(platform: FakePlatform) -> list[str]:
    return sorted(seen.text for seen in standing(platform.truth.frames) if "is short" in seen.text)


async def test_the_server_is_gone_and_back(tmp_path: Path, own_server: Server) -> None:
    """SC-22: what comes meanwhile is not confirmed, and is answered once when the database is back."""
    own_server.execute("CREATE DATABASE chats")
    async with FakePlatform("telegram") as platform:
        machine = Machine(tmp_path, "telegram", platform.config(), store=own_server.url("chats"), **HOW)
        try:
            await machine.start()
            await platform.says("ann", "ann", "q3. What is it?")
            await platform.hears("ann", "a3. is short.")
            await asyncio.to_thread(own_server.stop, "immediate")
            await platform.says("ann", "ann", "q7. And that?")
            await machine.says("Nothing is acknowledged until then")
            assert machine.status is None
            await asyncio.to_thread(own_server.start)
            await platform.hears("ann", "a7. is short.", seconds=2 * PATIENCE)
            await until_done(machine, 2)
        finally:
            await machine.kill()
        assert answers(platform) == ["a3. is short.", "a7. is short."]
        assert "can be written again" in machine.log


def two_of(folder: Path, platform: FakePlatform, url: str) -> tuple[Machine, Machine]:
    """Two gateways of one configuration."""
    one, two = folder / "one", folder / "two"
    for each in (one, two):
        each.mkdir()
    first, second = (Machine(each, "telegram", platform.config(), store=url, **HOW) for each in (one, two))
    return first, second


async def test_who_waits_takes_over(tmp_path: Path, postgres: Server) -> None:
    """SC-31: a second gateway on the same configuration waits, and goes on when the first is killed with kill -9."""
    url = a_database(postgres)
    async with FakePlatform("telegram") as platform:
        first, second = two_of(tmp_path, platform, url)
        try:
            await first.start()
            await platform.says("ann", "ann", "q3. What is it?")
            await platform.hears("ann", "a3. is short.")
            await second.start()
            await second.says("Another gateway serves it")
            await platform.says("bob", "bob", "q7. And that?")
            await first.kill()
            await platform.says("ann", "ann", "q11. And then?")
            await platform.hears("ann", "a11. is short.", seconds=2 * PATIENCE)
            await until_done(second, 3)
        finally:
            await first.kill()
            await second.kill()
        assert answers(platform) == ["a11. is short.", "a3. is short.", "a7. is short."]


@pytest.mark.deep
async def test_one_that_hangs_is_taken_over_from(tmp_path: Path, postgres: Server) -> None:
    """SC-31: SIGSTOP for longer than its leases; the other goes on, and when the first moves again it says nothing and
    ends."""
    url = a_database(postgres)
    async with FakePlatform("telegram") as platform:
        first, second = two_of(tmp_path, platform, url)
        try:
            await first.start()
            await platform.says("ann", "ann", "q3. What is it?")
            await platform.hears("ann", "a3. is short.")
            await second.start()
            await second.says("Another gateway serves it")
            await asyncio.sleep(YOUNG)  # by then one that holds the lock has leases
            first.signal(signal.SIGSTOP)
            await platform.says("ann", "ann", "q7. And that?")
            await platform.hears("ann", "a7. is short.", seconds=2 * PATIENCE)
            first.signal(signal.SIGCONT)
            await first.says("Another gateway serves the store now")
            assert await asyncio.wait_for(first.ended(), PATIENCE) is not None
            await platform.says("ann", "ann", "q11. And then?")
            await platform.hears("ann", "a11. is short.")
            await until_done(second, 3)
        finally:
            await first.kill()
            await second.kill()
        assert answers(platform) == ["a11. is short.", "a3. is short.", "a7. is short."]


@pytest.mark.parametrize("made", [True, False])
async def test_a_commit_without_an_answer_is_looked_up(
    postgres: Server, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    """SC-22: the connection is lost while the commit is under way; whether it was made is read, not guessed."""
    url = a_database(postgres)
    with cuttable(postgres, url) as (wire, by_wire):
        store = open_store(by_wire)
        await store.write(Accept((an_inbound(1),), NOW))
        send = Wire.send

        def send_and_cut(self: Wire, sql: str, *rest: Any) -> Any:
            if sql == "COMMIT":
                monkeypatch.setattr(Wire, "send", send)
                if made:
                    wire.swallows_next_answer = True
                else:
                    wire.cut()
            return send(self, sql, *rest)

        monkeypatch.setattr(Wire, "send", send_and_cut)
        if made:
            assert len(await store.write(Accept((an_inbound(2),), NOW))) == 1
        else:
            with pytest.raises(StoreUnavailable):
                await store.write(Accept((an_inbound(2),), NOW))
        assert sum((await store.census()).events.values()) == 1 + made
        assert (await store.health()).fault is None
        await store.close()
