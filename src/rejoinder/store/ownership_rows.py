"""Who owns what: leases on shards and on what one process does for all, and the processes that hold them."""

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
    """What it does for all: the accounts it listens to, and other work that one process does."""
    lease_seconds: float | None
    """For which its leases are still granted; None: they do not run out."""
    waiting: int
    """Messages in its shards that nobody has decided yet."""
    lag_seconds: float
    """Since the oldest of those came; 0: none waits."""


class Deployment(Struct, frozen=True):
    """All processes on one store."""

    shards: int
    unowned: int
    """Shards that nobody holds now."""
    lag_seconds: float
    """Since the oldest message came that nobody has decided yet, whoever holds its shard; 0: none waits."""
    processes: tuple[ProcessState, ...]


class Renewal(Struct, frozen=True):
    held: tuple[AnyLease, ...]
    """Those of the leases that were still held, and are for as long again. The others are lost."""
    now: datetime
    """By the clock of the store (SC-6)."""
