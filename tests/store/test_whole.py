"""SC-23, SC-25: a store moves from one engine to the other, and nothing is lost."""

import asyncio
import json
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from rejoinder.config.schema import Settings
from rejoinder.errors import BadUse, StoreUnavailable
from rejoinder.events import Chat, Inbound, Sender, Step
from rejoinder.programs.store_moves import copy_store, rehome_store
from rejoinder.runtime.session.background import Background
from rejoinder.session import Session, SessionSettings, home, shard_of
from rejoinder.store.base import (
    Accept,
    BeginTurn,
    BuryPart,
    CreateOwnEvent,
    Destination,
    HookEvent,
    PlanParts,
    PutFact,
    PutHookEvents,
    PutSession,
    RouteEvent,
    RunClaim,
    SharedStore,
    Trace,
)
from rejoinder.store.postgresql.store import open_store as open_postgres
from rejoinder.store.sql.schema import migrations
from rejoinder.store.sql.whole import OF_THE_ENGINE, tables
from rejoinder.store.sqlite.store import open_store as open_sqlite
from rejoinder.testing.store_contract.given import HERE, NOW, an_inbound, an_intent
from tests.postgres import Server, a_database, database_of


def quiet(_: str) -> None: ...


async def fill(store: SharedStore) -> None:
    """A bit of everything that a gateway leaves behind."""
    events = await store.write(
        Accept(tuple(an_inbound(n, text="zero \0 and é" if n == 2 else "") for n in range(9)), NOW)
    )
    for event in events[:5]:
        await store.write(RouteEvent(event.id, (Destination("agent:telegram:default:direct:chat-1", b"\0\xff"),)))
    session = "agent:telegram:default:direct:chat-1"
    run = await store.write(BeginTurn(session, HERE, (events[0].id,), NOW))
    assert isinstance(run, RunClaim)
    await store.write(Trace(events[0].id, NOW, (Step("a", "b"),)))
    (part, _) = await store.write(PlanParts((an_intent(1), an_intent(2)), NOW, run, claims=True))
    await store.write(BuryPart(part, "refused"))
    await store.write(PutFact("web/keys", "cookie", b"\0secret\xff"), PutHookEvents((a_hook_event(1),)))


def a_hook_event(number: int) -> HookEvent:
    return HookEvent("tell", f"{number}", "message", NOW, b"{}")


async def told(store: SharedStore) -> tuple[object, ...]:
    return (
        [replace(event, shard=0) for event in await store.undecided_events()],
        [(each.session, each.payload, each.state, each.turn) for each in await store.inputs_of(1)],
        await store.parts_in("dead", "planned"),
        await store.fact("web/keys", "cookie"),
        await store.count_rows(),
    )


def test_every_table_is_copied_or_named_as_not(postgres: Server) -> None:
    database = database_of(a_database(postgres))
    sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'rejoinder_schema'"
    assert {name for (name,) in postgres.execute(sql, database)} <= {*tables(), *OF_THE_ENGINE}


async def test_there_and_back(tmp_path: Path, postgres: Server) -> None:
    """SC-23: the same rows in both, new numbers after the old ones, the shard of each home."""
    first, second, middle = (f"sqlite:{tmp_path / 'a.db'}", f"sqlite:{tmp_path / 'b.db'}", a_database(postgres))
    store = open_sqlite(first)
    await fill(store)
    before = await told(store)
    await store.close()
    copied = await asyncio.to_thread(copy_store, first, middle, quiet)
    assert {each.table: each.rows for each in copied}["inbox"] == 9
    there = open_postgres(middle)
    found = await told(there)
    (new,) = await there.write(Accept((an_inbound(50),), NOW + timedelta(minutes=1)))
    assert (new.id, new.shard) == (10, shard_of("telegram:default:chat-1", 64))
    await there.write(PutHookEvents((a_hook_event(2),)), Trace(new.id, NOW, (Step("a", "b"),)))
    assert [queue.waiting for queue in await there.hook_queues()] == [2]
    assert {event.shard for event in await there.undecided_events()} == {new.shard}
    await there.close()
    assert found[1:] == before[1:]
    texts = [event.inbound.text for event in found[0]]  # type: ignore[attr-defined]
    assert texts == [event.inbound.text for event in before[0]]  # type: ignore[attr-defined]
    await asyncio.to_thread(copy_store, middle, second, quiet)
    back = open_sqlite(second)
    assert (await told(back))[1:4] == before[1:4]
    assert [event.id for event in await back.undecided_events()][-1] == 10
    (after,) = await back.write(Accept((an_inbound(51),), NOW))
    assert (after.id, after.shard) == (11, 0)
    await back.close()


async def test_a_file_remembers_homes_for_a_store_with_shards(tmp_path: Path, postgres: Server) -> None:
    """SC-1, SC-23: chats that share a session have its home, which is pinned while all is still one shard."""
    file, database, shard = f"sqlite:{tmp_path / 'a.db'}", a_database(postgres), shard_of("main", 64)
    store = open_sqlite(file)
    await store.write(Accept((an_inbound(1),), NOW, homes=("main",)))
    await store.write(PutSession(Session("agent:main", "agent", NOW, NOW), 0))
    await store.close()
    await asyncio.to_thread(copy_store, file, database, quiet)
    there = open_postgres(database)
    lease = await there.claim(shard, "its owner")
    assert lease is not None
    owned = there.owned(lease)
    assert (await owned.place(HERE, NOW)).elsewhere is False
    assert [event.inbound.event_id for event in (await owned.recover(NOW)).events] == ["event-1"]
    await there.close()
    assert postgres.execute("SELECT shard FROM session", database_of(database)) == [(shard,)]


async def test_a_store_that_is_ahead_is_not_copied_without_what_is_new_in_it(tmp_path: Path, postgres: Server) -> None:
    """SC-23: a gateway one step behind serves it; a copy would lack the tables of that step unseen."""
    database = a_database(postgres)
    await open_postgres(database).close()
    newer = migrations()[-1].number + 1
    postgres.execute(f"INSERT INTO rejoinder_schema VALUES ({newer})", database_of(database))
    await open_postgres(database).close()
    with pytest.raises(StoreUnavailable, match=f"schema {newer}, this version knows up to {newer - 1}") as refusal:
        copy_store(database, f"sqlite:{tmp_path / 'a.db'}", quiet)
    assert refusal.value.fault == "newer"
    with pytest.raises(StoreUnavailable, match=f"schema {newer}"):
        rehome_store(database, Settings(), None)


KILLED = """
import os, signal
from rejoinder.store.sql import whole
{where} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from rejoinder.cli import main
main()
"""


@pytest.mark.parametrize("where", ["whole._copy_table", "whole.reshard", "whole._sum"])
@pytest.mark.parametrize("to_postgres", [True, False], ids=["to PostgreSQL", "to a file"])
async def test_a_copy_that_is_killed_leaves_an_empty_target(
    tmp_path: Path, postgres: Server, to_postgres: bool, where: str
) -> None:
    """SC-23: at its first table, when all rows are written, and while they are compared: nothing of it is there
    afterwards, the source is as it was, and the same command again copies everything."""
    file, database = f"sqlite:{tmp_path / 'a.db'}", a_database(postgres)
    source, target = (file, database) if to_postgres else (database, file)
    store = open_sqlite(source) if to_postgres else open_postgres(source)
    await fill(store)
    await store.close()
    command = (sys.executable, "-c", KILLED.format(where=where), "store", "copy", source, target)
    killed = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, said = await killed.communicate()
    assert killed.returncode == -signal.SIGKILL, said.decode()
    copied = await asyncio.to_thread(copy_store, source, target, quiet)
    assert {each.table: each.rows for each in copied}["inbox"] == 9


async def test_a_copy_that_differs_is_taken_back(tmp_path: Path, postgres: Server) -> None:
    """SC-23: the hash of each table tells, also where the numbers of rows are the same."""
    source, target = f"sqlite:{tmp_path / 'a.db'}", a_database(postgres)
    store = open_sqlite(source)
    await fill(store)
    await store.close()
    changed = "BEGIN NEW.body := '\\x00'; RETURN NEW; END"
    postgres.execute(
        f"CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS $${changed}$$; "
        "CREATE TRIGGER changes BEFORE INSERT ON fact FOR EACH ROW EXECUTE FUNCTION changed()",
        database_of(target),
    )
    with pytest.raises(StoreUnavailable, match="the copy is not the same: fact: 1 rows were read and 1 written"):
        await asyncio.to_thread(copy_store, source, target, quiet)
    assert postgres.execute("SELECT count(*) FROM inbox", database_of(target)) == [(0,)]


async def test_what_is_in_use_or_not_empty_is_refused(tmp_path: Path, postgres: Server) -> None:
    source, full = f"sqlite:{tmp_path / 'a.db'}", a_database(postgres)
    running = open_sqlite(source)
    await fill(running)
    with pytest.raises(StoreUnavailable, match="a gateway is running"):
        await asyncio.to_thread(copy_store, source, full, quiet)
    await running.close()
    await asyncio.to_thread(copy_store, source, full, quiet)
    with pytest.raises(BadUse, match="copy into an empty store"):
        await asyncio.to_thread(copy_store, source, full, quiet)
    with pytest.raises(BadUse, match="exists already"):
        await asyncio.to_thread(copy_store, full, source, quiet)
    serving = open_postgres(full)
    with pytest.raises(StoreUnavailable) as caught:
        await asyncio.to_thread(copy_store, full, f"sqlite:{tmp_path / 'c.db'}", quiet)
    assert caught.value.fault == "served"
    await serving.close()
    assert not (tmp_path / "c.db").exists()


async def test_a_change_of_what_shares_a_session_is_applied(tmp_path: Path, postgres: Server) -> None:
    """SC-25: `rejoinder store rehome` gives the places of people the home they have now, and their rows its shard."""
    url = a_database(postgres)
    store = open_postgres(url)
    people = SessionSettings(scope="person")
    said = tuple(Inbound("web", f"{n}", f"{n}", Chat(f"dm {n}"), Sender(f"p{n}"), "hi") for n in range(6))
    events = await store.write(Accept(said, NOW, homes=tuple(home(each, people) for each in said)))
    for event in events:
        session = f"agent:web:default:direct:{event.inbound.chat.id}"
        await store.write(RouteEvent(event.id, (Destination(session),)))
        await store.write(BeginTurn(session, event.inbound.route, (event.id,), NOW))
    await store.close()
    shared = Settings(channels={"web": None}, session=SessionSettings(scope="shared"))  # type: ignore[dict-item]
    moved, shards = await asyncio.to_thread(rehome_store, url, shared, 16)
    assert (moved, shards) == (6, 16)
    homes = postgres.execute("SELECT DISTINCT home, shard FROM place", database_of(url))
    wanted = home(said[0], shared.session)
    assert homes == [(wanted, shard_of(wanted, 16))]
    assert postgres.execute("SELECT count(*) FROM shard", database_of(url)) == [(16,)]
    again = open_postgres(url)
    assert again.shards == 16
    await again.close()


async def test_a_chat_in_which_a_job_spoke_last_keeps_its_home(tmp_path: Path, postgres: Server) -> None:
    """SC-1, SC-25: a job does not say whose chat it is; what became of its message is found where its session is."""
    url = a_database(postgres)
    store = open_postgres(url)
    await store.write(Accept((an_inbound(1, sender="chat-1"),), NOW))
    (asked,) = await store.write(Accept((an_inbound(2, sender="chat-1"),), NOW))
    await store.write(RouteEvent(asked.id, (Destination("agent:telegram:default:direct:chat-1"),)))
    await store.write(BeginTurn("agent:telegram:default:direct:chat-1", HERE, (asked.id,), NOW))
    job = Background(id="job", agent="agent", session="agent:cron:job", text="Look.").inbound(HERE)
    event = await store.write(CreateOwnEvent(job, Destination("agent:cron:job"), NOW))
    assert event is not None
    await store.write(BeginTurn("agent:cron:job", HERE, (event.id,), NOW))
    await store.close()
    settings = Settings(channels={"telegram": None})  # type: ignore[dict-item]
    assert await asyncio.to_thread(rehome_store, url, settings, 16) == (0, 16)
    rows = postgres.execute("SELECT id, shard FROM inbox ORDER BY id", database_of(url))
    here = shard_of("telegram:default:chat-1", 16)
    assert rows == [(1, here), (2, here), (event.id, shard_of("cron:job", 16))]


def test_the_command(tmp_path: Path, postgres: Server) -> None:
    source, target = f"sqlite:{tmp_path / 'a.db'}", a_database(postgres)

    async def make() -> None:
        store = open_sqlite(source)
        await fill(store)
        await store.close()

    asyncio.run(make())
    secret = target.replace("owner@", "owner:hunter2@")
    done = CliRunner().invoke(app, ["store", "copy", source, secret, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"]["inbox"] == 9
    assert "hunter2" not in done.output
    wrong = CliRunner().invoke(app, ["store", "move"])
    assert wrong.exit_code != 0
