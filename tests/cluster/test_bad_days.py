"""The database goes away and comes back: nothing is lost, nothing is said twice (SC-22)."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rejoinder.store.base import Accept, IndexedMessage, MarkSent, NoteMessages, PlanParts, SharedStore
from rejoinder.store.postgresql import open_store
from rejoinder.store.postgresql.wire import Wire
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.truth import standing
from rejoinder.testing.store_contract.given import HERE, NOW, THREAD, an_inbound, an_intent, claimed
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


@asynccontextmanager
async def losing_a_commit(
    server: Server, monkeypatch: pytest.MonkeyPatch, *, made: bool
) -> AsyncIterator[tuple[SharedStore, Callable[[], None]]]:
    """A store, and what makes it lose the answer to its next commit; `made`: it is carried out nevertheless."""
    with cuttable(server, a_database(server)) as (wire, by_wire):
        store, send = open_store(by_wire), Wire.send

        def send_and_cut(self: Wire, sql: str, *rest: Any) -> Any:
            if sql == "COMMIT":
                monkeypatch.setattr(Wire, "send", send)
                if made:
                    wire.swallows_next_answer = True
                else:
                    wire.cut()
            return send(self, sql, *rest)

        async with asyncio.timeout(PATIENCE):
            yield store, lambda: monkeypatch.setattr(Wire, "send", send_and_cut)
            assert Wire.send is send, "a commit was lost"
            assert (await store.health()).fault is None
            await store.close()


@pytest.mark.parametrize("made", [True, False])
async def test_a_commit_without_an_answer_is_looked_up(
    postgres: Server, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    """SC-22: the connection is lost while the commit is under way. Whether it was made is read, not guessed: if it was,
    what it returns is read too, if not, it is done again."""
    async with losing_a_commit(postgres, monkeypatch, made=made) as (store, lose):
        await store.write(Accept((an_inbound(1),), NOW))
        lose()
        (event,) = await store.write(Accept((an_inbound(2),), NOW))
        assert [each.id for each in await store.events_of(event.inbound.message_id)] == [event.id]
        assert sum((await store.count_rows()).events.values()) == 2


@pytest.mark.parametrize("made", [True, False])
async def test_parts_of_a_lost_commit_are_planned_once(
    postgres: Server, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    """SC-22, DU-3: their rows are returned as they stand in the store, the first one claimed, and there are no others:
    what is sent for them, and noted of them, is that of this plan."""
    async with losing_a_commit(postgres, monkeypatch, made=made) as (store, lose):
        await store.write(PlanParts((an_intent(1, THREAD),), NOW))
        lose()
        rows = await store.write(PlanParts((an_intent(2), an_intent(3)), NOW, claims=True))
        assert [row.key for row in rows] == ["key-2", "key-3"]
        assert [row.state for row in rows] == ["sending", "planned"]
        assert list(rows) == [await store.part(row.id) for row in rows]
        assert (await store.count_rows()).parts == {"sending": 1, "planned": 2}
        await store.write(MarkSent(rows[0], "m-1", NOW))
        assert (await claimed(store)).id == rows[1].id


@pytest.mark.parametrize("made", [True, False])
async def test_messages_of_a_lost_commit_are_noted_once(
    postgres: Server, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    """SC-22, OD-52: their handles are returned as they stand in the index, and the next message has the next one."""
    async with losing_a_commit(postgres, monkeypatch, made=made) as (store, lose):
        await store.write(NoteMessages(HERE, (a_message(1),)))
        lose()
        noted = await store.write(NoteMessages(HERE, (a_message(2), a_message(3))))
        (last,) = await store.write(NoteMessages(HERE, (a_message(4),)))
        kept = {each.id: each for each in await store.messages(HERE, limit=10)}
        assert list(noted) == [kept["2"], kept["3"]]
        assert sorted(each.number for each in kept.values()) == [1, 2, 3, 4] == sorted({1, 2, 3, last.number})


def a_message(number: int) -> IndexedMessage:
    return IndexedMessage(str(number), "anna", NOW, text=f"text {number}")
