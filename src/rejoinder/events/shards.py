"""Which process holds which shard: the store says it, and the floor decides by it who claims what."""

from collections.abc import Mapping

from msgspec import Struct


class Shard(Struct, frozen=True):
    id: int
    holder: str | None
    """None: nobody holds it, or the lease of its last holder has run out."""


class ShardOwners(Struct, frozen=True):
    """The shards, and the processes that are alive, which hold some or want to."""

    shards: tuple[Shard, ...]
    processes: tuple[str, ...]
    fronts: tuple[str, ...] = ()
    """Processes that are alive and claim no shard (SC-24)."""
    named: Mapping[str, str] = {}
    """Who holds which lease by name; one that nobody holds is not there."""
    first_end: float | None = None
    """Seconds until the first of all these leases runs out unless it is renewed; None: none of them does."""
