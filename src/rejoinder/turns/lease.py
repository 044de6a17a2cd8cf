"""How long a run may hold its lane (TU-20).

A run is a lease. It ends by itself, or when the agent has shown no sign of life for a while, or when it has
taken too long altogether, signs or not. Times are seconds of whatever clock the caller uses.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class LeaseSettings(Struct, frozen=True, forbid_unknown_fields=True):
    idle_timeout_s: Annotated[float, Meta(gt=0)] = 600
    hard_timeout_s: Annotated[float, Meta(gt=0)] = 7200


class Lease(Struct, frozen=True):
    run: int
    started: float
    seen: float
    """The last sign of life: any event of the agent."""


class Held(Struct, frozen=True):
    """Look again then: earlier it cannot have run out."""

    until: float


class Expired(Struct, frozen=True):
    why: Literal["idle", "hard"]


def examine(lease: Lease, settings: LeaseSettings, now: float) -> Held | Expired:
    hard = lease.started + settings.hard_timeout_s
    idle = lease.seen + settings.idle_timeout_s
    if now >= hard:
        return Expired("hard")
    if now >= idle:
        return Expired("idle")
    return Held(min(hard, idle))
