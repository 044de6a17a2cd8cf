"""The time of the store: what is stored and compared by several processes is measured by one clock (SC-6)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from time import monotonic


class DatabaseClock:
    """Goes on by the monotonic clock from what the store said last; before that, the clock of the machine."""

    def __init__(self, machine: Callable[[], datetime], monotonic: Callable[[], float] = monotonic) -> None:
        self._machine = machine
        self._monotonic = monotonic
        self._known: tuple[datetime, float] | None = None

    def __call__(self) -> datetime:
        if self._known is None:
            return self._machine()
        then, at = self._known
        return then + timedelta(seconds=self._monotonic() - at)

    @property
    def is_told(self) -> bool:
        """Whether it is the store's clock by now."""
        return self._known is not None

    def told(self, now: datetime) -> None:
        self._known = now, self._monotonic()
