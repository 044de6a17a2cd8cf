"""Chats that Telegram has told us to leave alone for a while (DE-32): until that time we make no call for them."""


class ClosedChats:
    def __init__(self) -> None:
        self._until: dict[int | str, float] = {}

    def close(self, chat: int | str, now: float, seconds: float) -> None:
        self._until = {other: until for other, until in self._until.items() if until > now}
        self._until[chat] = now + seconds

    def left(self, chat: int | str, now: float) -> float:
        """Seconds left; 0 or less: the chat is open."""
        return self._until.get(chat, now) - now
