"""Which process holds which shard: the store reports it, and `turns.balance` decides by it who claims what."""

from collections.abc import Mapping

from msgspec import Struct


class Shard(Struct, frozen=True):
    id: int
    holder: str | None
    """None: nobody holds it, or the lease of its last holder has run out."""


class ShardOwners(Struct, frozen=True):
    """The shards, and the living processes that hold shards or could."""

    shards: tuple[Shard, ...]
    processes: tuple[str, ...]
    fronts: tuple[str, ...] = ()
    """Processes that are alive and claim no shard (SC-24)."""
    named: Mapping[str, str] = {}
    """The holders of the named leases; a lease that nobody holds is left out."""
    first_end: float | None = None
    """Seconds until the first of all these leases runs out unless it is renewed; None: none of them does."""
