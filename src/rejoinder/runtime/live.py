"""A value that may be replaced while the gateway runs."""

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakMethod

Value = TypeVar("Value")


class Live(Generic[Value]):
    """Read `now` where the value is used; keep what you read for as long as it must not change, as a turn does."""

    def __init__(self, value: Value) -> None:
        self.now = value
        self._watchers: list[WeakMethod[Callable[[], None]]] = []

    def on_change(self, call: Callable[[], None]) -> None:
        """Registers a method that is called after every change. It is held weakly and called only as long as its object
        exists, because engines come and go while the settings stay."""
        self._watchers = [each for each in self._watchers if each() is not None]
        self._watchers.append(WeakMethod(call))

    def replace(self, value: Value) -> None:
        self.now = value
        for each in self._watchers:
            if (call := each()) is not None:
                call()
