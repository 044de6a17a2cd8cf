"""How a store under test is opened."""

from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from rejoinder.store.base import Store


class Opened:
    survives: bool = True
    """Whether what was written is there after the process has ended."""

    @abstractmethod
    def open(self, folder: Path) -> Store: ...

    @asynccontextmanager
    async def opened(self, folder: Path) -> AsyncGenerator[Store]:
        store = self.open(folder)
        try:
            yield store
        finally:
            await store.close()
