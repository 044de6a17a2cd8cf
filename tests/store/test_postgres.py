"""PostgreSQL keeps the contract (SC-20)."""

import asyncio
from pathlib import Path

import pytest

from rejoinder.store.base import Accept, IndexedMessage, NoteMessages, OperatorStore, SharedStore
from rejoinder.store.postgresql import open_for_operator
from rejoinder.store.postgresql.store import open_store
from rejoinder.testing import StoreContract
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.store_contract.given import HERE, NOW, an_inbound
from rejoinder.testing.store_contract.leases import Leases
from rejoinder.testing.store_contract.opened import Opened
from tests.postgres import Server, an_emptied_database

LEASE = 0.6


class OnPostgres(Opened):
    template = "one_shard"
    copies = False

    @pytest.fixture(autouse=True)
    def _serve(self, postgres: Server) -> None:
        self.server, self.urls = postgres, dict[Path, str]()

    def _url(self, folder: Path) -> str:
        if folder not in self.urls:
            self.urls[folder] = an_emptied_database(self.server, self.template)
        return self.urls[folder]

    def open(self, folder: Path) -> SharedStore:
        return open_store(self._url(folder), lease_seconds=LEASE)

    def operator(self, folder: Path) -> OperatorStore:
        return open_for_operator(self._url(folder))

    async def let_leases_run_out(self, store: SharedStore) -> None:
        await asyncio.sleep(LEASE + 0.05)  # by the clock of the database, which no test can set


class TestPostgres(OnPostgres, StoreContract):
    """As one shard, in which one engine does everything."""


class TestShards(OnPostgres, Leases):
    """As several processes have it."""

    template = "shards"


async def test_who_holds_the_shard_is_woken(postgres: Server) -> None:
    """SC-12: what one process writes for a home of another wakes that process, and nobody it does not concern."""
    url = an_emptied_database(postgres, "shards")
    one, other = open_store(url), open_store(url)
    woken, own = asyncio.Event(), list[str]()
    other.on_external_change(lambda _: woken.set())
    one.on_external_change(lambda _: own.append("told"))
    await one.write(Accept((an_inbound(1),), NOW))
    await asyncio.wait_for(woken.wait(), PATIENCE)
    assert own == []
    await one.close()
    await other.close()


async def test_two_processes_note_messages_of_one_place(postgres: Server) -> None:
    """SC-1, OD-22: the owner of a session what is said in its chat, the owner of the chat what is sent there; each
    message has a number of its own."""
    url = an_emptied_database(postgres, "shards")
    stores = open_store(url), open_store(url)

    async def notes(store: SharedStore, who: str) -> None:
        for number in range(100):
            await store.write(NoteMessages(HERE, (IndexedMessage(f"{who}-{number}", who, NOW, "human"),)))

    try:
        await asyncio.gather(*(notes(store, f"{who}{at}") for who in "ab" for at, store in enumerate(stores)))
        numbers = [each.number for each in await stores[0].messages(HERE, limit=500)]
    finally:
        for store in stores:
            await store.close()
    assert sorted(numbers) == list(range(1, 401))
