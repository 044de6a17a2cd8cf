"""Ownership: leases on shards and on work that one process does for all, and the processes that hold them."""

from datetime import datetime

from msgspec import Struct


class Lease(Struct, frozen=True):
    """The right to decide, run and send for the homes of a shard, as long as the shard has this generation (SC-3)."""

    shard: int
    holder: str
    """The process."""
    generation: int


class NamedLease(Struct, frozen=True):
    """The right to do something for all processes, such as listening to an account (SC-10)."""

    name: str
    holder: str
    generation: int


AnyLease = Lease | NamedLease


class ProcessState(Struct, frozen=True):
    """A process that is alive, as operators see it (SC-24)."""

    name: str
    claims: bool
    """Whether it claims shards; a front does not."""
    shards: int
    duties: tuple[str, ...]
    """The work it does for all processes, such as listening to accounts."""
    lease_seconds: float | None
    """Seconds for which its leases are still granted; None if they do not expire."""
    waiting: int
    """The number of undecided messages in its shards."""
    lag_seconds: float
    """Seconds since the oldest of those came; 0 if there are none."""


class Deployment(Struct, frozen=True):
    """All processes on one store."""

    shards: int
    unowned: int
    """The number of shards that nobody holds now."""
    lag_seconds: float
    """Seconds since the oldest undecided message came, whoever holds its shard; 0 if there is none."""
    processes: tuple[ProcessState, ...]


class Renewal(Struct, frozen=True):
    held: tuple[AnyLease, ...]
    """The leases that were still held and have been renewed. The others are lost."""
    now: datetime
    """When this happened, by the store's clock (SC-6)."""
