"""The database goes away and comes back: nothing is lost, nothing is said twice (SC-22)."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Accept
from rejoinder.store.postgresql import open_store
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
