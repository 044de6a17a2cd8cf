"""The store's clock: times that several processes store and compare are measured by one clock (SC-6)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from time import monotonic


class DatabaseClock:
    """Continues from the store's last answer by the monotonic clock; before the first answer it is the machine's
    clock."""

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
        """Whether the store has told its time yet."""
        return self._known is not None

    def told(self, now: datetime) -> None:
        self._known = now, self._monotonic()
