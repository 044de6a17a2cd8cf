"""How a store under test is opened."""

from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from rejoinder.store.base import Store, StoreBeside


class Opened:
    survives: bool = True
    """Whether what was written is there after the process has ended."""

    @abstractmethod
    def open(self, folder: Path) -> Store: ...

    def beside(self, folder: Path) -> StoreBeside:
        """The same store for an operator, while it is open; one that ends with its process has no such side."""
        raise NotImplementedError

    @asynccontextmanager
    async def opened(self, folder: Path) -> AsyncGenerator[Store]:
        store = self.open(folder)
        try:
            yield store
        finally:
            await store.close()
