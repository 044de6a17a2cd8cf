"""The SQLite engine, in a file and in memory, keeps the contract."""

from datetime import timedelta
from pathlib import Path

import pytest

from rejoinder.errors import BadUse
from rejoinder.store.base import OperatorStore, PlanParts, SharedStore
from rejoinder.store.sqlite import open_reader, open_store
from rejoinder.store.sqlite.operator import open_for_operator
from rejoinder.testing import StoreContract
from rejoinder.testing.store_contract.given import NOW, accepted, an_intent, begun
from rejoinder.testing.store_contract.leases import Leases


class TestFile(StoreContract):
    def open(self, folder: Path) -> SharedStore:
        return open_store(f"sqlite:{folder / 'rejoinder.db'}")

    def operator(self, folder: Path) -> OperatorStore:
        return open_for_operator(f"sqlite:{folder / 'rejoinder.db'}")


@pytest.mark.parametrize("url", ["sqlite:{folder}/rejoinder.db", "sqlite::memory:"])
async def test_a_backup_is_a_store(tmp_path: Path, url: str) -> None:
    """DU-14: put in the place of a lost file it goes on where the copy was made."""
    store = open_store(url.format(folder=tmp_path))
    await begun(store, 1, 2)
    await store.write(PlanParts((an_intent(1),), NOW))
    before = await store.count_rows()
    await store.backup(tmp_path / "copy.db")
    await accepted(store, 3)
    await store.close()
    reader = open_reader(f"sqlite:{tmp_path / 'copy.db'}")
    assert await reader.count_rows() == before
    await reader.check()
    await reader.close()
    restored = open_store(f"sqlite:{tmp_path / 'copy.db'}")
    assert [event.inbound.event_id for event in await accepted(restored, 1, 2, 3)] == ["event-3"]
    assert len((await restored.recover(NOW)).turns) == 1
    await restored.close()


@pytest.mark.parametrize("url", ["rejoinder.db", "sqlite:", "postgresql://here/x"])
def test_a_url_that_names_no_file(url: str) -> None:
    with pytest.raises(BadUse, match="write sqlite:FILE"):
        open_store(url)


class TestMemory(StoreContract):
    survives = False

    def open(self, folder: Path) -> SharedStore:
        return open_store("sqlite::memory:")


class TestSeveralShards(Leases):
    """As a store that several processes share: leases run out, by a clock that the test moves."""

    def open(self, folder: Path) -> SharedStore:
        self.clock = NOW
        return open_store("sqlite::memory:", shards=4, lease_seconds=10.0, clock=lambda: self.clock)

    async def let_leases_run_out(self, store: SharedStore) -> None:
        self.clock += timedelta(seconds=10)


def test_a_file_is_one_shard(tmp_path: Path) -> None:
    """SC-5: the kernel's lock on it is the lease."""
    with pytest.raises(BadUse, match="a file is one shard"):
        open_store(f"sqlite:{tmp_path / 'rejoinder.db'}", shards=2)
