"""A primary, its standby, and the moment when the standby takes over: both are real servers (SC-22)."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rejoinder.errors import LeaseLost, StoreUnavailable
from rejoinder.store.base import Accept, SettleEvent
from rejoinder.store.postgresql import open_store
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.truth import standing
from rejoinder.testing.store_contract.given import NOW, an_inbound
from tests.crash.gateway import Machine
from tests.crash.trial import until_done
from tests.postgres import Server, install, prepare

HOW = {"on_unknown": "hold", "mode": "followup", "debounce_ms": 0, "drafts": False}
CHATS = ("ann", "ben", "cat")


class Pair:
    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)  # the servers belong to another user
        self.primary = Server(folder / "primary", ("fsync=off", "wal_level=replica"))
        self.standby = Server(folder / "standby", ("fsync=off",))

    def start(self) -> None:
        self.primary.start()
        prepare(self.primary, "chats", 4)
        self.standby.start_as_standby(self.primary)
        # From now on nothing is committed that the standby does not have.
        self.primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.execute("SELECT pg_reload_conf()")

    def fail_over(self) -> None:
        self.primary.stop("immediate")
        self.standby.promote()

    @property
    def is_synchronous(self) -> bool:
        return self.primary.execute("SELECT sync_state FROM pg_stat_replication") == [("sync",)]

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in (self.primary, self.standby))
        return f"postgresql://owner@{hosts}/chats?target_session_attrs=read-write"


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    install()
    folder = Path(tempfile.mkdtemp(prefix="rejoinder-pair-"))
    servers = Pair(folder)
    try:
        await asyncio.to_thread(servers.start)
        await until(lambda: servers.is_synchronous, "the standby follows")
        yield servers
    finally:
        for each in (servers.standby, servers.primary):
            if each.runs:
                await asyncio.to_thread(each.stop)
        shutil.rmtree(folder, ignore_errors=True)


async def test_a_standby_is_only_read_until_it_is_promoted(pair: Pair) -> None:
    """SC-22: nothing is confirmed there, `health` tells why, and on it goes when the standby has become the primary."""
    store = await asyncio.to_thread(open_store, pair.standby.url("chats"))
    try:
        with pytest.raises(StoreUnavailable, match="it is a standby") as caught:
            await store.write(Accept((an_inbound(1),), NOW))
        assert caught.value.fault == "standby"
        assert (await store.health()).fault == "standby"
        assert await store.undecided_events() == ()
        await asyncio.to_thread(pair.fail_over)

        async def is_well() -> bool:
            return (await store.health()).fault is None

        await until(is_well, "it can be written")
        assert len(await store.write(Accept((an_inbound(1),), NOW))) == 1
    finally:
        await store.close()


async def test_after_a_fail_over_leases_are_claimed_again(pair: Pair) -> None:
    """SC-22: the new primary has another timeline. What is stored is there; a lease of before writes nothing."""
    store = await asyncio.to_thread(open_store, pair.url)
    try:
        (event,) = await store.write(Accept((an_inbound(1),), NOW))
        lease = await store.claim(event.shard, "me")
        assert lease is not None
        assert (await store.renew("me", (lease,))).held == (lease,)
        await asyncio.to_thread(pair.fail_over)

        async def renewed() -> bool:
            try:
                assert (await store.renew("me", (lease,))).held == ()
            except StoreUnavailable:  # its connection was to the server that is gone
                return False
            return True

        await until(renewed, "the new primary answers")
        again = await store.claim(event.shard, "me")
        assert again is not None
        assert again.generation > lease.generation
        assert (await store.renew("me", (again,))).held == (again,)
        with pytest.raises(LeaseLost):
            await store.owned(lease).write(SettleEvent(event.id, "too late"))
        await store.owned(again).write(SettleEvent(event.id, "in time"))
    finally:
        await store.close()


async def test_a_gateway_goes_on_with_the_promoted_standby(tmp_path: Path, pair: Pair) -> None:
    """SC-22: the primary is killed while messages come; everybody is answered, and nobody twice."""
    async with FakePlatform("discord") as platform:
        machine = Machine(tmp_path, "discord", platform.config(), store=pair.url, **HOW)
        try:
            await machine.start()
            await platform.says("ann", "ann", "q3. What is it?")
            await platform.hears("ann", "a3. is short.", seconds=2 * PATIENCE)
            for chat in CHATS:
                await platform.says(chat, chat, "q7. And that?")
            await asyncio.to_thread(pair.primary.stop, "immediate")
            for chat in CHATS:
                await platform.says(chat, chat, "q11. And now?")
            await asyncio.to_thread(pair.standby.promote)
            await machine.says("has failed over to another server")  # noticed with the next renewal
            await until_done(machine, 1 + 2 * len(CHATS))
        finally:
            await machine.kill()
        said = sorted(seen.text for seen in standing(platform.truth.frames) if "is short" in seen.text)
        assert said == sorted(["a3. is short.", *["a7. is short."] * len(CHATS), *["a11. is short."] * len(CHATS)])
