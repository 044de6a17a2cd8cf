"""Remembers the one reaction that a bot may have on a message.

Setting a reaction replaces the one before. So a request to remove the old one after a new one was set has nothing to
do, and must not remove the new one.
"""

from rejoinder.bounded import Bounded

REMEMBERED = 10_000


class Reactions:
    def __init__(self) -> None:
        self._standing: Bounded[tuple[str, str], str] = Bounded(REMEMBERED)

    def may_remove(self, chat: str, message: str, emoji: str) -> bool:
        """Whether the current reaction is this one, as far as we remember."""
        return self._standing.get((chat, message), emoji) == emoji

    def set(self, chat: str, message: str, emoji: str | None) -> None:
        if emoji is None:
            self._standing.pop((chat, message), None)
        else:
            self._standing.renew((chat, message), emoji)
