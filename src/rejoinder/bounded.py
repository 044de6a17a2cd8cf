"""A memory that cannot grow for ever (DU-5)."""

from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(dict[Key, Value]):
    """Forgets the oldest entry for one too many; what is only written anew keeps its age."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]

    def renew(self, key: Key, value: Value) -> None:
        """The same, as the youngest."""
        self.pop(key, None)
        self[key] = value
