"""Work that one process does for all, each kind under a lease of its name: listening to an account of a channel,
posting events to HTTP hooks, removing old data (SC-10).

Rule 1: work begins with its lease and is cancelled when the lease is lost; the lease is given back when the work ends
        by itself.
Rule 2: a process with fewer leases takes a free one sooner, so that they spread; none is ever taken away.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime.ownership.held_lease import HeldLease, boot_time, deadline_of
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import AnyLease, NamedLease, Renewal, ShardOwners, SharedStore

log = logging.getLogger(__name__)

HEAD_START_SECONDS: Final = 0.3
"""Head start of other processes, in seconds for each lease that this process already has."""

Work = Callable[[NamedLease | None], Coroutine[Any, Any, None]]
"""Called with the lease under which it runs; None if only this process uses the store."""


class Duties:
    def __init__(self, store: SharedStore, holder: str) -> None:
        self._store = store
        self._holder = holder
        self._held: dict[str, HeldLease[NamedLease]] = {}
        self._wanted: dict[str, asyncio.Event] = {}  # set when no process has the lease

    @property
    def leases(self) -> tuple[NamedLease, ...]:
        return tuple(held.lease for held in self._held.values())

    def has(self, name: str) -> bool:
        return name in self._held

    async def do(self, name: str, work: Work, tasks: Tasks) -> None:
        """Does the work in these tasks whenever this process has the lease, until the work ends by itself. Raises what
        the work raises."""
        if self._store.lease_seconds is None:
            return await work(None)
        free = self._wanted.setdefault(name, asyncio.Event())
        try:
            while True:
                await free.wait()
                free.clear()
                if (held := await self._claim(name)) is not None and await self._work(name, held, work, tasks):
                    return
        finally:
            del self._wanted[name]

    async def _claim(self, name: str) -> HeldLease[NamedLease] | None:
        await asyncio.sleep(HEAD_START_SECONDS * len(self._held))
        sent = boot_time()
        try:
            lease = await self._store.claim_named(name, self._holder)
        except StoreUnavailable as fault:
            log.debug("skipped for now: %s", fault)  # the store has logged it already
            return None
        if lease is None:
            return None
        held = self._held[name] = HeldLease(lease, deadline_of(sent, self._store.lease_seconds))
        return held

    async def _work(self, name: str, held: HeldLease[NamedLease], work: Work, tasks: Tasks) -> bool:
        """Returns whether the work has ended by itself."""
        task = tasks.start(f"duty:{name}", work(held.lease))
        held.on_loss(lambda: _end(task))
        try:
            await tasks.wait(task)
            if task.cancelled():
                return False
            if (problem := task.exception()) is not None:
                raise problem
            return True
        finally:
            await tasks.cancel(task)
            del self._held[name]
            await self._give_back(held)

    async def _give_back(self, held: HeldLease[NamedLease]) -> None:
        if not held.holds:
            return log.warning("%s: this process has lost the lease and stops its work", held.lease.name)
        try:
            await self._store.release(held.lease)
        except StoreUnavailable as fault:
            log.debug("skipped for now: %s", fault)

    def look(self, owners: ShardOwners) -> None:
        """Tries to get leases that no process has."""
        for name, free in self._wanted.items():
            if name not in self._held and name not in owners.named:
                free.set()

    def renewed(self, sent: float, asked: tuple[AnyLease, ...], renewal: Renewal) -> None:
        for held in tuple(self._held.values()):
            if held.lease in renewal.held:
                held.renewed(deadline_of(sent, self._store.lease_seconds))
            elif held.lease in asked:
                held.lose()

    def look_at_deadlines(self) -> None:
        """Ends work whose lease has expired, even if it is idle."""
        for held in tuple(self._held.values()):
            if not held.holds:
                log.debug("%s: the lease has run out here", held.lease.name)


def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
