"""How long a run may hold its lane (TU-20).

A run ends by itself when the agent has shown no sign of life for a while, or when the run has taken
too long altogether, signs of life or not. Times are seconds of whatever clock the caller uses.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class RunTimeouts(Struct, frozen=True, forbid_unknown_fields=True):
    idle_timeout_s: Annotated[float, Meta(gt=0)] = 600
    hard_timeout_s: Annotated[float, Meta(gt=0)] = 7200


class RunTimes(Struct, frozen=True):
    run: int
    started: float
    seen: float
    """When the agent last showed a sign of life, which is any event."""


class NextCheck(Struct, frozen=True):
    """The run cannot time out before that time."""

    at: float


class Expired(Struct, frozen=True):
    why: Literal["idle", "hard"]


def examine(run: RunTimes, settings: RunTimeouts, now: float) -> NextCheck | Expired:
    hard = run.started + settings.hard_timeout_s
    idle = run.seen + settings.idle_timeout_s
    if now >= hard:
        return Expired("hard")
    if now >= idle:
        return Expired("idle")
    return NextCheck(min(hard, idle))
