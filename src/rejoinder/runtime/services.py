"""The values that every part of an engine is built on."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Self

from msgspec import Struct, field
from msgspec.structs import asdict

from rejoinder.agents.base import MOST_REMEMBERED_SESSIONS, Agent
from rejoinder.blobs import Blobs
from rejoinder.bounded import Bounded
from rejoinder.channels.base import Channel
from rejoinder.runtime.account_pace import AccountPaces
from rejoinder.runtime.hooks import Hooks
from rejoinder.runtime.live import Live
from rejoinder.runtime.ownership.held_lease import UNENDING, HeldLease
from rejoinder.runtime.recent import RecentlyUsed
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.slot_pool import SlotPool
from rejoinder.runtime.tasks import Tasks
from rejoinder.runtime.toolbox import Toolbox
from rejoinder.session import session_home, shard_of
from rejoinder.store.base import Lease, Store


class SendGate:
    """Whether an engine may still send: the gate is shut when the engine ends."""

    def __init__(self) -> None:
        self.is_shut = False
        self._shutting = asyncio.Event()

    def shut(self) -> None:
        self.is_shut = True
        self._shutting.set()

    async def shuts_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._shutting.wait()
        return self.is_shut


class ProcessMemory:
    """Memory that all engines of a process share, so that it does not grow with their number (DU-5)."""

    def __init__(self) -> None:
        self.recently_used = RecentlyUsed()
        self.restored: Bounded[str, tuple[object, Agent]] = Bounded(MOST_REMEMBERED_SESSIONS // 2)
        """Which agent knows each session, and who restored it. It has half the capacity of the agents' own memory,
        which serves all engines, so a session missing here may be missing there, or soon will be."""


class ProcessServices(Struct, frozen=True, kw_only=True):
    """What all engines of a process share: the edges by name, the settings, the clock, and everything counted or
    remembered for all of them together."""

    agents: Mapping[str, Agent]
    """The agents of the configuration in effect; an agent replaced while the gateway runs is replaced here."""
    channels: Mapping[str, Channel]
    """By name; accounts by their names from `serving.listener`."""
    settings: Live[RuntimeSettings]
    clock: Callable[[], datetime]
    hooks: Hooks
    blobs: Blobs
    """The files of parts."""
    tools: Toolbox = field(default_factory=Toolbox)
    """The tools of current runs."""
    accounts: AccountPaces = field(default_factory=AccountPaces)
    """The limits of accounts (SC-13)."""
    slots: SlotPool = field(default_factory=SlotPool)
    """The slots for runs."""
    memory: ProcessMemory = field(default_factory=ProcessMemory)
    machine: str = ""
    """The machine of this process, if other processes run on other machines: data that agents keep here does not exist
    there (SC-7)."""
    shards: int = 1
    """The number of shards over which the homes are spread."""


class Services(ProcessServices, frozen=True, kw_only=True):
    """The services of one engine, with those that only it has; each of its parts takes what it needs."""

    store: Store
    tasks: Tasks
    lease: HeldLease[Lease] = UNENDING
    """The hold on the shard: checked before every call to a platform and every answer to an agent (SC-3)."""
    gate: SendGate = field(default_factory=SendGate)

    @classmethod
    def of_engine(cls, process: ProcessServices, store: Store, lease: HeldLease[Lease], tasks: Tasks) -> Self:
        return cls(**asdict(process), store=store, tasks=tasks, lease=lease)

    @property
    def shard(self) -> int:
        """The shard of this engine."""
        return self.lease.lease.shard

    def is_at_home(self, session: str) -> bool:
        """Whether this engine owns the home of the session."""
        return self.shards == 1 or shard_of(session_home(session), self.shards) == self.shard

    @property
    def is_shared(self) -> bool:
        """Whether other processes may know things that this one does not; this one leaves those to them (SC-25)."""
        return bool(self.machine)
