"""A cache in front of the store: it holds what was used most recently, and is never the source of truth (DU-5).

All engines of a process share one such list, so it grows neither with the shards nor with the sessions.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

MOST = 1000
"""Conversations and sessions together: enough for 500 direct chats."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class RecentlyUsed:
    """Keeps the most recently used objects alive, whatever they are."""

    def __init__(self) -> None:
        self._latest: OrderedDict[int, object] = OrderedDict()  # by identity

    def keep(self, thing: object) -> None:
        """Marks the object as just used, and drops the one unused for longest."""
        latest = self._latest
        try:
            latest.move_to_end(id(thing))
        except KeyError:
            latest[id(thing)] = thing
            if len(latest) > MOST:
                latest.popitem(last=False)

    def drop(self, thing: object) -> None:
        self._latest.pop(id(thing), None)


class Recent(Generic[Key, Value]):
    """The most recently used values, and those still referenced elsewhere, so that no key ever has two values."""

    def __init__(self, make: Callable[[Key], Value], recently_used: RecentlyUsed) -> None:
        self._make = make
        self._recently_used = recently_used
        self._alive: WeakValueDictionary[Key, Value] = WeakValueDictionary()

    def get(self, key: Key) -> Value:
        found = self._alive.get(key)
        if found is None:
            found = self._alive[key] = self._make(key)
        self._recently_used.keep(found)
        return found

    def forget(self) -> None:
        """Nobody uses these values any more."""
        for value in self._alive.values():
            self._recently_used.drop(value)
