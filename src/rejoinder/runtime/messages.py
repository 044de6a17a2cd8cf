"""The messages of one conversation and their short handles (OD-22): m1, m2, ... as they appeared."""

import re

from msgspec import Struct

REMEMBERED = 10_000
_HANDLE = re.compile(r"m[1-9][0-9]{0,8}")


class Known(Struct, frozen=True):
    """A message of this conversation. `ours`: we said it."""

    handle: str
    text: str
    author: str = ""
    ours: bool = False


class Messages:
    """Who is not in here cannot be replied to or reacted to (OD-52)."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._id_by_handle: dict[str, str] = {}
        self._by_id: dict[str, Known] = {}
        self._count = 0
        self.ours = 0  # how many of them we said
        self._remembered = remembered

    def add(self, message: str, text: str, author: str = "", *, ours: bool = False) -> str:
        """Notes a message and returns its handle; a platform whose ids are handles already keeps them."""
        if known := self._by_id.get(message):
            handle = known.handle
        else:
            self._count += 1
            self.ours += ours
            handle = message if _HANDLE.fullmatch(message) else f"m{self._count}"
        self._by_id[message] = Known(handle, text, author, ours)
        self._id_by_handle[handle] = message
        if len(self._by_id) > self._remembered:
            self.forget(next(iter(self._by_id)))
        return handle

    def forget(self, message: str) -> None:
        """It was taken back, or is too old; its handle is not given again."""
        del self._id_by_handle[self._by_id.pop(message).handle]

    def find(self, reference: str) -> str | None:
        """The platform id behind a handle or an id, if it is a message of this conversation."""
        if reference in self._by_id:
            return reference
        return self._id_by_handle.get(reference)

    def get(self, message: str) -> Known | None:
        return self._by_id.get(message)

    def handle(self, message: str) -> str | None:
        return self._by_id[message].handle if message in self._by_id else None

    def text(self, message: str) -> str:
        return self._by_id[message].text if message in self._by_id else ""
