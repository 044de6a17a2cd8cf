"""A dictionary with a limited number of entries: the oldest go first (DU-5)."""

from typing import Any, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
_set = dict[Any, Any].__setitem__  # found once: `super()` is looked up for every entry


class Bounded(dict[Key, Value]):
    """Forgets the oldest entry when there is one too many; overwriting an entry keeps its age."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        _set(self, key, value)
        if len(self) > self._most:
            del self[next(iter(self))]

    def renew(self, key: Key, value: Value) -> None:
        """Sets the entry and makes it the youngest."""
        self.pop(key, None)
        _set(self, key, value)
        if len(self) > self._most:
            del self[next(iter(self))]
