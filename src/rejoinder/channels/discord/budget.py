"""How many calls Discord still takes: windows in which it has said to wait, and refused calls, of which it counts ten
thousand in ten minutes before it shuts out the whole address (CH-28)."""

from collections import deque
from collections.abc import Mapping

from rejoinder.bounded import Bounded

MOST_WINDOWS = 2000
MOST_REFUSED, REFUSED_SECONDS = 8000, 600.0
"""Below Discord's own limit: other programs may share the address."""
COUNTED = frozenset({401, 403, 429})
EVERYTHING = "*"


class RateBudget:
    def __init__(self) -> None:
        self._buckets: Bounded[str, str] = Bounded(MOST_WINDOWS)
        self._until: Bounded[str, float] = Bounded(MOST_WINDOWS)
        self._refused: deque[float] = deque()

    def wait(self, route: str, major: str, now: float) -> float:
        """Seconds until this may be called; 0: now."""
        bucket = self._buckets.get(route, route)
        until = max(self._until.get(f"{bucket} {major}", 0.0), self._until.get(EVERYTHING, 0.0))
        return max(0.0, until - now, self._until_forgiven(now))

    def note(self, route: str, major: str, headers: Mapping[str, str], now: float) -> None:
        """What an answer told of its limit."""
        if (bucket := headers.get("X-RateLimit-Bucket")) is not None:
            self._buckets[route] = bucket
        if headers.get("X-RateLimit-Remaining") == "0":
            self.close(route, major, _seconds(headers.get("X-RateLimit-Reset-After", "")), now)

    def close(self, route: str, major: str, seconds: float, now: float, *, everywhere: bool = False) -> None:
        key = EVERYTHING if everywhere else f"{self._buckets.get(route, route)} {major}"
        self._until.renew(key, now + seconds)

    def count(self, status: int, now: float) -> None:
        if status in COUNTED:
            self._refused.append(now)

    def _until_forgiven(self, now: float) -> float:
        while self._refused and self._refused[0] <= now - REFUSED_SECONDS:
            self._refused.popleft()
        return self._refused[0] + REFUSED_SECONDS - now if len(self._refused) >= MOST_REFUSED else 0.0


def _seconds(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return 0.0
