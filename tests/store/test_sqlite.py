"""The SQLite engine, in a file and in memory, keeps the contract."""

from pathlib import Path

from rejoinder.store.base import Store
from rejoinder.store.sqlite import open_store
from rejoinder.testing import StoreContract


class TestFile(StoreContract):
    def open(self, folder: Path) -> Store:
        return open_store(f"sqlite:{folder / 'rejoinder.db'}")


class TestMemory(StoreContract):
    survives = False

    def open(self, folder: Path) -> Store:
        return open_store("sqlite::memory:")
