"""Which process holds which shard. The store reports it, and `turns.balance` uses it to decide which process claims
what."""

from collections.abc import Mapping

from msgspec import Struct


class Shard(Struct, frozen=True):
    id: int
    holder: str | None
    """None if nobody holds it, or the lease of its last holder has expired."""


class ShardOwners(Struct, frozen=True):
    """The shards, and the live processes that hold shards or could hold them."""

    shards: tuple[Shard, ...]
    processes: tuple[str, ...]
    fronts: tuple[str, ...] = ()
    """Processes that are alive and claim no shard (SC-24)."""
    named: Mapping[str, str] = {}
    """The holders of the named leases; a lease that nobody holds is left out."""
    first_end: float | None = None
    """Seconds until the first of all these leases expires if it is not renewed; None if none of them expires."""
