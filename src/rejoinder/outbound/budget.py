"""Rate budgets: a bucket of calls for each chat and each account, so that a platform need not say 429 (DE-32).

The last calls are reserved for more important ones: a final or an action may take any call, an edit has to leave one,
and a typing sign two.
"""

from typing import Final, Literal

from msgspec import Struct

Rank = Literal["final", "action", "edit", "typing"]

LEAVES: Final[dict[Rank, int]] = {"final": 0, "action": 0, "edit": 1, "typing": 2}
"""How many calls each rank has to leave for more important ones."""


class Rate(Struct, frozen=True):
    """How many calls may be made at once, and how many per second after that."""

    burst: int
    per_second: float


class Bucket(Struct, frozen=True):
    left: float
    at: float


LEAST: Final = 0.001
"""The share of a rate for a process without shards, so that its messages also go out at some time."""


def share_of(rate: Rate, part: float) -> Rate:
    """The rate for a process with this share of it (SC-13), which is always at least one call at a time."""
    return Rate(max(1, int(rate.burst * part + 1e-9)), rate.per_second * max(part, LEAST))


def full(rate: Rate, now: float) -> Bucket:
    return Bucket(rate.burst, now)


def refill(bucket: Bucket, rate: Rate, now: float) -> Bucket:
    passed = max(0.0, now - bucket.at)
    return Bucket(min(rate.burst, bucket.left + passed * rate.per_second), now)


def wait(bucket: Bucket, rate: Rate, rank: Rank, now: float) -> float:
    """Seconds until a call of this rank may be made; 0 means now."""
    needed = min(1 + LEAVES[rank], rate.burst)
    missing = needed - refill(bucket, rate, now).left
    return max(0.0, missing / rate.per_second)


def take(bucket: Bucket, rate: Rate, now: float) -> Bucket:
    """Counts a call. If it was one too many, the next one waits longer."""
    filled = refill(bucket, rate, now)
    return Bucket(filled.left - 1, now)


def give_back(bucket: Bucket) -> Bucket:
    """Returns a counted call that was not made; an excess is dropped at the next look."""
    return Bucket(bucket.left + 1, bucket.at)
