"""Rate budgets: a bucket of calls for each chat and each account, so that a platform need not say 429 (DE-32).

The last calls are reserved for what matters more: a final or an action may take any call, an edit must leave one, a
typing sign two.
"""

from typing import Final, Literal

from msgspec import Struct

Rank = Literal["final", "action", "edit", "typing"]

LEAVES: Final[dict[Rank, int]] = {"final": 0, "action": 0, "edit": 1, "typing": 2}
"""How many calls each rank must leave for what matters more."""


class Rate(Struct, frozen=True):
    """How many calls may be made at once, and how many a second after that."""

    burst: int
    per_second: float


class Bucket(Struct, frozen=True):
    left: float
    at: float


LEAST: Final = 0.001
"""The part of a rate that is left to who has none of it: what it has to say goes out at some time."""


def share_of(rate: Rate, part: float) -> Rate:
    """What may be done by who has this part of it (SC-13); one call at a time in any case."""
    return Rate(max(1, int(rate.burst * part + 1e-9)), rate.per_second * max(part, LEAST))


def full(rate: Rate, now: float) -> Bucket:
    return Bucket(rate.burst, now)


def refill(bucket: Bucket, rate: Rate, now: float) -> Bucket:
    passed = max(0.0, now - bucket.at)
    return Bucket(min(rate.burst, bucket.left + passed * rate.per_second), now)


def wait(bucket: Bucket, rate: Rate, rank: Rank, now: float) -> float:
    """Seconds until a call of this rank may be made; 0: now."""
    needed = min(1 + LEAVES[rank], rate.burst)
    missing = needed - refill(bucket, rate, now).left
    return max(0.0, missing / rate.per_second)


def take(bucket: Bucket, rate: Rate, now: float) -> Bucket:
    """A call was made. If it was one too many, the next one waits longer."""
    filled = refill(bucket, rate, now)
    return Bucket(filled.left - 1, now)


def give_back(bucket: Bucket) -> Bucket:
    """A call that was counted is not made; what is too much is lost with the next look."""
    return Bucket(bucket.left + 1, bucket.at)
