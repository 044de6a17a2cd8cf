"""A value that may be replaced while the gateway runs."""

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Live(Generic[Value]):
    """Read `now` where the value is used; keep what you read for as long as it must not change, as a turn does."""

    def __init__(self, value: Value) -> None:
        self.now = value
        self._watchers: list[Callable[[], None]] = []

    def on_change(self, call: Callable[[], None]) -> None:
        """For what has to act on a new value before somebody asks it to do something."""
        self._watchers.append(call)

    def become(self, value: Value) -> None:
        self.now = value
        for call in self._watchers:
            call()
