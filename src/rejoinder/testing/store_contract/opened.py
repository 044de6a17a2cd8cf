"""Opens the store under test."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from rejoinder.events import Route
from rejoinder.session import route_home, shard_of
from rejoinder.store.base import Lease, OperatorStore, SharedStore, Store
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.store_contract.given import HERE

PROCESSES = count(1)


class Opened:
    survives: bool = True
    """Whether written data survives the end of the process."""

    copies: bool = True
    """Whether it can write a copy of itself; a database server refers to its own tools instead."""

    @abstractmethod
    def open(self, folder: Path) -> SharedStore: ...

    def operator(self, folder: Path) -> OperatorStore:
        """The same store, opened by an operator while it is in use. A store in memory does not have this."""
        raise NotImplementedError

    async def let_leases_run_out(self, store: SharedStore) -> None:
        """Waits until leases run out; a store whose clock can be moved need not wait."""
        await asyncio.sleep(store.lease_seconds or 0)

    @asynccontextmanager
    async def opened(self, folder: Path) -> AsyncGenerator[Store]:
        """The store of the shard of `HERE`, in a process that ends without giving its lease back."""
        async with self.shared(folder) as store:
            yield store.owned(await claimed_by(store, f"process-{next(PROCESSES)}"))

    @asynccontextmanager
    async def shared(self, folder: Path) -> AsyncGenerator[SharedStore]:
        store = self.open(folder)
        try:
            yield store
        finally:
            await store.close()


def shard_at(store: SharedStore, route: Route = HERE) -> int:
    return shard_of(route_home(route), store.shards)


def elsewhere_in(store: SharedStore) -> Route:
    """A place in another shard if there are several; otherwise `HERE`."""
    places = (Route("telegram", f"chat-{number}") for number in range(100))
    return next((each for each in places if shard_at(store, each) != shard_at(store)), HERE)


async def claimed_by(store: SharedStore, holder: str, route: Route = HERE) -> Lease:
    """The lease on the shard of a place, as soon as it is free."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if (lease := await store.claim(shard_at(store, route), holder)) is not None:
                return lease
            await asyncio.sleep(0.05)
