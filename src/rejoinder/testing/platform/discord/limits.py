"""When Discord says to wait: a full bucket, a closed channel, a bot over its global limit, an address shut out."""

import time
from typing import Literal

from msgspec import Struct

from rejoinder.testing.platform.faults import Verb

BUCKET = (5, 5.0)
"""How many messages a channel accepts in how many seconds."""
ANYBODY = "*"


class Limit(Struct, frozen=True):
    """The limit that a call has reached."""

    seconds: float
    """How long to wait."""
    whose: Literal["channel", "bot", "address"] = "channel"
    too_early: bool = False
    """The bot was told to wait, but did not."""


class _Window(Struct):
    seconds: float
    until: float | None = None
    """None: nobody has reached it yet."""


class Limits:
    def __init__(self, *, has_buckets: bool) -> None:
        self._has_buckets = has_buckets
        self._buckets: dict[str, tuple[int, float]] = {}
        self._not_before: dict[str, float] = {}
        self._windows: dict[str, _Window] = {}

    def stop(self, bot: str, seconds: float) -> None:
        """Puts this bot over its global limit, from its next call on."""
        self._windows[bot] = _Window(seconds)

    def shut_out(self, seconds: float) -> None:
        """From the next call on, the proxy in front of Discord refuses all calls of all bots."""
        self._windows[ANYBODY] = _Window(seconds)

    def close(self, chat: str, seconds: float) -> None:
        self._not_before[chat] = time.monotonic() + seconds

    def met(self, bot: str, chat: str, verb: Verb) -> Limit | None:
        now = time.monotonic()
        if (window := self._open_window(bot, now)) is not None:
            return window
        if chat and (left := self._not_before.get(chat, 0.0) - now) > 0:
            return Limit(left, too_early=True)
        return self._spend(chat, now) if self._has_buckets and verb == "send" else None

    def _open_window(self, bot: str, now: float) -> Limit | None:
        for name in (ANYBODY, bot):
            window = self._windows.get(name)
            if window is None or (window.until is not None and window.until <= now):
                continue
            too_early = window.until is not None
            window.until = window.until or now + window.seconds
            return Limit(window.until - now, "address" if name == ANYBODY else "bot", too_early)
        return None

    def _spend(self, chat: str, now: float) -> Limit | None:
        most, seconds = BUCKET
        used, since = self._buckets.get(chat, (0, 0.0))
        if now - since >= seconds:
            used, since = 0, now
        if used >= most:
            return Limit(since + seconds - now, too_early=True)
        self._buckets[chat] = (used + 1, since)
        return None
