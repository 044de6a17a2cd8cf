"""A process that no longer hears of its store: what it holds ends at its own deadline."""

import asyncio
import errno
from contextlib import suppress
from datetime import UTC, datetime
from unittest.mock import patch

import pytest

from rejoinder.app import Gateway, with_channel
from rejoinder.config.schema import Settings
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime import gateway as runtime_gateway
from rejoinder.runtime import write_batch
from rejoinder.runtime.outbox import sender
from rejoinder.runtime.ownership import lease_renewer
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import NamedLease, RecoveryRows, Renewal
from rejoinder.store.sql.reader import SqlShard
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing import FakeMessenger, ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until

LEASE = 0.5


async def test_what_runs_out_ends_while_the_store_does_not_answer():
    """SC-3: at the deadline an engine ends, and so does listening, though no question to the store has an answer: a
    listener that stayed would take messages that its successor should have."""
    listens, ended = asyncio.Event(), asyncio.Event()

    async def listening(_: NamedLease | None) -> None:
        try:
            listens.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def never(*_, **__):
        await asyncio.Event().wait()

    async def unavailable(*_, **__):
        raise StoreUnavailable("locked", "here")

    store = open_store("sqlite::memory:", shards=2, lease_seconds=LEASE)
    configured = with_channel(Settings(), "fake", "bot", ())
    async with (
        Gateway(configured, agents={"bot": ScriptedAgent(name="bot")}, channels=[FakeMessenger()], store=store) as here,
        Tasks() as tasks,
    ):
        member, engines = here.cluster_member, here.engines
        tasks.start("listen", member.duties.do("fake", listening, tasks))
        await member.begin(tasks)
        own = asyncio.ensure_future(member.own(0.0))
        await until(lambda: len(engines.leases) == 2 and listens.is_set(), "both shards, and somebody who listens")
        with patch.object(store, "owners", never), patch.object(store, "renew", unavailable):
            await until(lambda: not engines.leases and ended.is_set(), "the end of all that was held")
        own.cancel()
        with suppress(asyncio.CancelledError):
            await own


async def test_what_another_has_been_given_ends_with_the_next_renewal(monkeypatch):
    """SC-3, SC-4: at once, long before the deadline; what the store has left here goes on."""
    listens, ended = asyncio.Event(), asyncio.Event()

    async def listening(_: NamedLease | None) -> None:
        try:
            listens.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(lease_renewer, "EVERY", 0.0001)
    store = open_store("sqlite::memory:", shards=2, lease_seconds=600.0)
    configured = with_channel(Settings(), "fake", "bot", ())
    async with (
        Gateway(configured, agents={"bot": ScriptedAgent(name="bot")}, channels=[FakeMessenger()], store=store) as here,
        Tasks() as tasks,
    ):
        member, engines = here.cluster_member, here.engines
        tasks.start("listen", member.duties.do("fake", listening, tasks))
        await member.begin(tasks)
        tasks.start("own", member.own(0.0))
        await until(lambda: len(engines.leases) == 2 and listens.is_set(), "both shards, and somebody who listens")
        stays, goes = engines.leases
        listener = next(each for each in member.duties.leases if each.name == "fake")
        await store.release(goes)
        await store.release(listener)
        assert await store.claim(goes.shard, "another")
        assert await store.claim_named("fake", "another")
        await until(lambda: engines.leases == (stays,) and ended.is_set(), "the end of what is another's")


@pytest.mark.parametrize("fault", [StoreUnavailable("away", "here"), ValueError("odd")], ids=["store", "other"])
async def test_a_shard_that_could_not_be_recovered_is_claimed_again(monkeypatch, fault):
    """SC-4, SC-22: the database restarts while a shard is recovered, or something else fails; its lease is still good
    then."""
    recover, faults = SqlShard.recover, [fault]

    async def interrupted(shard: SqlShard, now: datetime) -> RecoveryRows:
        if faults:
            raise faults.pop()
        return await recover(shard, now)

    monkeypatch.setattr(SqlShard, "recover", interrupted)
    monkeypatch.setattr(write_batch, "PAUSE", 0.0)
    monkeypatch.setattr(runtime_gateway, "RECOVERY_PAUSE", 0.0)
    store = open_store("sqlite::memory:", shards=2, lease_seconds=600.0)
    configured = with_channel(Settings(), "fake", "bot", ())
    async with (
        Gateway(configured, agents={"bot": ScriptedAgent(name="bot")}, channels=[FakeMessenger()], store=store) as here,
        Tasks() as tasks,
    ):
        await here.cluster_member.begin(tasks)
        tasks.start("own", here.cluster_member.own(0.0))
        engines = here.engines
        await until(lambda: len(engines.leases) == 2 and all(each.is_recovered for each in engines), "both shards")
        assert not faults


async def test_a_process_without_a_file_descriptor_renews_when_it_has_one_again(monkeypatch):
    """SC-4: a renewal that cannot even begin is tried again; the thread that renews does not end of it."""
    run, faults, renewed = asyncio.run, [OSError(errno.EMFILE, "Too many open files")], asyncio.Event()

    def without_room(renewal, **how):
        if faults:
            renewal.close()
            raise faults.pop()
        return run(renewal, **how)

    class Store:
        async def renew(self, *_, **__) -> Renewal:
            return Renewal((), datetime.now(UTC))

    monkeypatch.setattr(lease_renewer.asyncio, "run", without_room)
    task = asyncio.create_task(
        lease_renewer.LeaseRenewer(Store(), "me", tuple, lambda *_: renewed.set(), seconds=0.1).run()
    )
    async with asyncio.timeout(PATIENCE):
        await renewed.wait()
    task.cancel()
    await asyncio.wait({task})
    assert not faults


async def test_nothing_is_sent_after_the_deadline(monkeypatch):
    """SC-3: asked right before the call, not only before the part is claimed: a commit may have taken that long."""
    seconds, said = [0.0], asyncio.Event()

    def is_late(point: str) -> None:
        if point == "K15":  # the part is claimed, and not yet sent
            seconds[0] = 60.0
            said.set()

    store, channel, agent = open_store("sqlite::memory:", lease_seconds=10.0), FakeMessenger(), ScriptedAgent("Hello.")
    configured = with_channel(Settings(), channel.name, agent.name, ())
    async with (
        asyncio.timeout(PATIENCE),
        Gateway(configured, agents={agent.name: agent}, channels=[channel], store=store) as here,
    ):
        monkeypatch.setattr(here.engines, "_boot", lambda: seconds[0])
        engine = await here.engines.claim(0)
        await engine.recover()
        monkeypatch.setattr(sender, "crashpoint", is_late)
        await here.dispatch(Inbound("fake", "e1", "m1", Chat("ann", kind="direct"), Sender("ann"), "hi"))
        await said.wait()
        await until(lambda: not here.engines.leases or channel.messages, "the end of the engine")
        await engine.tasks.close()
    assert channel.messages == {}
