"""An engine's hold on its shard. It must be checked before anything is sent to the outside (SC-3).

The deadline is the local side of the lease. It always ends before the lease does in the store: it counts from when the
renewal was sent, on a clock that also runs while the machine sleeps, and leaves a margin for the call itself.
"""

import logging
import time
from collections.abc import Callable
from math import inf
from typing import Final, Generic, TypeVar

from rejoinder.errors import LeaseLost
from rejoinder.store.base import AnyLease, Lease

log = logging.getLogger(__name__)

MARGIN: Final = 2.0
"""How many seconds before the lease expires nothing new is begun; at most a fifth of a short lease."""

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_time() -> float:
    """Seconds since the machine started, including the time for which it was suspended."""
    return time.clock_gettime(_CLOCK)


Held = TypeVar("Held", bound=AnyLease)


class HeldLease(Generic[Held]):
    def __init__(self, lease: Held, deadline: float = inf, clock: Callable[[], float] = boot_time) -> None:
        self.lease = lease
        self.deadline = deadline
        self._clock = clock
        self._over = False
        self._told: list[Callable[[], None]] = []

    def on_loss(self, told: Callable[[], None]) -> None:
        self._told.append(told)

    @property
    def holds(self) -> bool:
        """Whether anything may be sent or answered now."""
        if not self._over and self.deadline < inf and self._clock() >= self.deadline:
            self.lose()
        return not self._over

    def check(self) -> None:
        """Call this right before every call to a platform and every answer to an agent."""
        if not self.holds:
            what = f"shard {self.lease.shard}" if isinstance(self.lease, Lease) else self.lease.name
            raise LeaseLost(f"{self.lease.holder} no longer holds {what}")

    def renewed(self, deadline: float) -> None:
        if self.holds:
            self.deadline = deadline

    def lose(self) -> None:
        """Ends the hold at once and for good; a later claim makes another HeldLease."""
        if self._over:
            return
        self._over = True
        for callback in self._told:
            callback()


UNENDING: Final = HeldLease(Lease(0, "this process", 0))
"""For an engine on a store that nobody else can open."""


def deadline_of(sent: float, seconds: float | None) -> float:
    """Until when a lease of this duration may be used if it was requested at `sent`."""
    return inf if seconds is None else sent + seconds - min(MARGIN, seconds / 5)
