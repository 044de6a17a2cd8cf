"""The engines of this process, one for each shard it holds: claims and closes them.

An engine lives as long as the lease on its shard. Claiming a shard makes a new engine, which recovers the shard. Losing
the lease ends the engine at once, and it writes and sends nothing after that (SC-3, SC-4).
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from typing import Final

from rejoinder.agents.base import Agent, HasProcess
from rejoinder.errors import LeaseLost, StoreUnavailable
from rejoinder.runtime.abilities import can
from rejoinder.runtime.engine import Engine
from rejoinder.runtime.ownership.held_lease import HeldLease, boot_time, deadline_of
from rejoinder.runtime.tasks import Tasks
from rejoinder.runtime.write_batch import until_available
from rejoinder.session import session_home, shard_of
from rejoinder.store.base import AnyLease, Lease, Renewal, ShardOwners, SharedStore, Store
from rejoinder.turns.balance import StayPriority, balance

log = logging.getLogger(__name__)

RECOVERY_PAUSE: Final = 10.0
"""Seconds before a shard whose recovery has failed is given to whoever claims it."""

Make = Callable[[Store, HeldLease[Lease], Tasks], Engine]


class Engines:
    def __init__(
        self,
        store: SharedStore,
        holder: str,
        make: Make,
        tasks: Tasks,
        *,
        boot: Callable[[], float] = boot_time,
        moved: Callable[[float], None] = lambda _: None,
    ) -> None:
        """`boot`: the clock of the deadlines, which tests move by hand. `moved` is called with the share of all shards
        that is held, whenever that changes."""
        self._boot = boot
        self._moved = moved
        self.holder = holder
        self._store = store
        self._make = make
        self._tasks = tasks
        self._held: dict[int, tuple[HeldLease[Lease], Engine]] = {}
        self._leaving: set[int] = set()

    def __iter__(self) -> Iterator[Engine]:
        return (engine for _, engine in tuple(self._held.values()))

    def of(self, shard: int) -> Engine | None:
        held = self._held.get(shard)
        return None if held is None else held[1]

    def of_session(self, key: str) -> Engine | None:
        """The engine of a session's home, if this process holds it."""
        return self.of(shard_of(session_home(key), self._store.shards))

    def refusal(self, channel: str, account: str | None) -> str:
        """Why a platform refuses messages from this account of a channel (None: any account); empty if it does not."""
        return next(filter(None, (engine.outbox.trouble(channel, account) for engine in self)), "")

    @property
    def leases(self) -> tuple[Lease, ...]:
        return tuple(held_lease.lease for held_lease, _ in self._held.values())

    @property
    def leaving(self) -> frozenset[int]:
        """The shards that are just being handed over."""
        return frozenset(self._leaving)

    def changed(self, shards: Collection[int] = ()) -> None:
        """Something may have been written to these shards (if empty, to any) from outside these engines."""
        for shard, (_, engine) in tuple(self._held.items()):
            if not shards or shard in shards:
                engine.changed()

    def _count(self) -> None:
        self._moved(len(self._held) / self._store.shards)

    # --- shards come and go -------------------------------------------------------------------------

    async def claim(self, shard: int) -> Engine | None:
        """Claims a shard; None if another process holds it. The new engine has not recovered yet."""
        sent = self._boot()
        lease = await self._store.claim(shard, self.holder)
        if lease is None:
            return None
        if (before := self._held.get(shard)) is not None:
            before[0].lose()  # its lease had expired here, and the store has granted a new one
        held_lease = HeldLease(lease, deadline_of(sent, self._store.lease_seconds), self._boot)
        engine = self._make(self._store.owned(lease, held_lease.lose), held_lease, self._tasks.scope())
        self._held[shard] = held_lease, engine
        self._count()
        held_lease.on_loss(partial(self._lost, lease, engine))
        return engine

    def renewed(self, sent: float, asked: tuple[AnyLease, ...], renewal: Renewal) -> None:
        """`sent`: when the renewal of the leases in `asked` was sent."""
        for held_lease, _ in tuple(self._held.values()):
            if held_lease.lease in renewal.held:
                held_lease.renewed(deadline_of(sent, self._store.lease_seconds))
            elif held_lease.lease in asked:
                held_lease.lose()

    def look_at_deadlines(self) -> None:
        """Ends the engines whose lease has expired, even if they are idle."""
        for held_lease, _ in tuple(self._held.values()):
            if not held_lease.holds:
                log.debug("shard %d: the lease has run out here", held_lease.lease.shard)

    def _lost(self, lease: Lease, engine: Engine) -> None:
        log.warning("Shard %d is lost: this process stops working for it, and its next owner continues", lease.shard)
        held = self._held.get(lease.shard)
        if held is not None and held[1] is engine:
            del self._held[lease.shard]
            self._count()
        at_work = engine.turn_runner.at_work
        self._end(engine, lease.shard)
        self._end_processes(at_work)

    def _end(self, engine: Engine, shard: int) -> None:
        """Ends an engine at once. A task that waits for another one that is gone is cancelled repeatedly until it ends;
        otherwise the process would wait for it when it stops."""
        engine.kill()
        self._tasks.start(f"end:shard {shard}", engine.tasks.close())

    def _end_processes(self, agents: list[Agent]) -> None:
        """Ends the processes of agents that worked for a lost shard, unless they also work for another shard."""
        wanted = [agent for engine in self for agent in engine.turn_runner.at_work]
        for agent in agents:
            name, is_free = agent.name, agent not in wanted
            if is_free and can(agent, HasProcess):
                self._tasks.start(f"end:{name}", agent.suspend())

    async def hand_over(self, shard: int, grace: float) -> None:
        """Releases a shard to its next owner: waiting messages move at once, runs have `grace` seconds to end."""
        held = self._held.get(shard)
        if held is None or shard in self._leaving:
            return
        held_lease, engine = held
        self._leaving.add(shard)
        try:
            await engine.drain(grace)
            if self._held.get(shard) is held:
                del self._held[shard]
                self._count()
                self._end(engine, shard)
                await self._store.release(held_lease.lease)
        finally:
            self._leaving.discard(shard)

    async def balance(self, owners: ShardOwners, grace: float) -> None:
        """Takes one step towards an even distribution of the shards, from what all processes hold now (SC-5)."""
        recovering = frozenset(
            held_lease.lease.shard for held_lease, engine in self._held.values() if not engine.is_recovered
        )
        steps = balance(self.holder, owners, recovering, self.leaving, self._stay_priority)
        for shard in steps.claim:
            if (engine := await self.claim(shard)) is not None:
                self.start_recovery(engine)
        if steps.give_up is not None:
            self._tasks.start(f"hand over:{steps.give_up}", self.hand_over(steps.give_up, grace))

    def _stay_priority(self, shard: int) -> StayPriority:
        engine = self.of(shard)
        if engine is None:
            return StayPriority.IDLE
        if engine.turn_runner.restorer.has_bound:
            return StayPriority.BOUND
        return StayPriority.RUNNING if engine.turn_runner.at_work else StayPriority.IDLE

    def start_recovery(self, engine: Engine) -> None:
        engine.tasks.start("recover", self._recover(engine))

    async def _recover(self, engine: Engine) -> None:
        """If it fails, half of it may be done: the shard is claimed once more, by a new engine."""
        try:
            await engine.recover()
        except LeaseLost:
            raise
        except StoreUnavailable as fault:
            await until_available(self._store, fault)
            self._give_back(engine, fault)
        except Exception as problem:  # whatever it is, it must not keep the shard from all others for good
            log.exception("a shard could not be recovered")
            await asyncio.sleep(RECOVERY_PAUSE)
            self._give_back(engine, problem)

    def _give_back(self, engine: Engine, why: Exception) -> None:
        for shard in [shard for shard, (_, held) in self._held.items() if held is engine]:
            log.warning("Shard %d could not be recovered, and is claimed again: %s", shard, why)
            self._tasks.start(f"hand over:{shard}", self.hand_over(shard, 0.0))

    async def look_for_work(self) -> None:
        """Looks for what others have written to these shards without announcing it (SC-12)."""
        with_work = await self._store.shards_with_work()
        for shard, (_, engine) in tuple(self._held.items()):
            engine.changed() if shard in with_work else engine.read_again()

    async def drain(self, grace: float) -> None:
        await asyncio.gather(*(engine.drain(grace) for engine in self))

    async def leave(self) -> None:
        """The process ends and its work is done: gives its leases back."""
        with suppress(StoreUnavailable):  # the next process notices that this one has ended
            await self._store.leave(self.holder)
