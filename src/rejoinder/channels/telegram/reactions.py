"""The one reaction a bot may have on a message, and which it is.

Setting one replaces the one before. So what takes an old sign away after a new one was set has nothing to do, and
must not take the new one.
"""

REMEMBERED = 10_000


class Reactions:
    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._standing: dict[tuple[str, str], str] = {}
        self._remembered = remembered

    def may_remove(self, chat: str, message: str, emoji: str) -> bool:
        """Whether the reaction that stands there is this one, as far as anybody remembers."""
        return self._standing.get((chat, message), emoji) == emoji

    def set(self, chat: str, message: str, emoji: str | None) -> None:
        self._standing.pop((chat, message), None)
        if emoji is not None:
            self._standing[chat, message] = emoji
        if len(self._standing) > self._remembered:
            del self._standing[next(iter(self._standing))]
