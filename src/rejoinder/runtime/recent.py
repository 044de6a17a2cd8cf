"""A cache in front of the store: it holds what was used latest, and is never the source of truth (DU-5)."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """The values used latest, and those still referenced elsewhere, so that no key ever has two values."""

    def __init__(self, make: Callable[[Key], Value], most: int) -> None:
        self._make = make
        self._most = most
        self._latest: OrderedDict[Key, Value] = OrderedDict()
        self._alive: WeakValueDictionary[Key, Value] = WeakValueDictionary()

    def get(self, key: Key) -> Value:
        found = self._latest.get(key)
        if found is not None:
            self._latest.move_to_end(key)
            return found
        found = self._alive.get(key)
        if found is None:
            found = self._alive[key] = self._make(key)
        self._latest[key] = found
        if len(self._latest) > self._most:
            self._latest.popitem(last=False)
        return found
