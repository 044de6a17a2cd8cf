"""How many calls Discord still takes: windows in which it has said to wait, and refused calls, of which it counts ten
thousand in ten minutes before it shuts out the whole address (CH-28).

Windows are those of one bot. Refusals are counted for all bots of this process together, as Discord counts them, and so
is the time for which it shuts out the address.
"""

from collections import deque
from collections.abc import Mapping
from weakref import WeakValueDictionary

from rejoinder.bounded import Bounded

MOST_WINDOWS = 2000
MOST_REFUSED, REFUSED_SECONDS = 8000, 600.0
"""Below Discord's own limit: other programs may share the address."""
COUNTED = frozenset({401, 403, 429})
SHARED = "shared"
EVERYTHING = "*"


class Refusals:
    """Of all bots that call one address."""

    def __init__(self) -> None:
        self._at: deque[float] = deque()
        self._shut_out_until = 0.0

    def count(self, now: float) -> None:
        self._at.append(now)

    def shut_out(self, seconds: float, now: float) -> None:
        self._shut_out_until = max(self._shut_out_until, now + seconds)

    def wait(self, now: float) -> float:
        while self._at and self._at[0] <= now - REFUSED_SECONDS:
            self._at.popleft()
        forgiven = self._at[0] + REFUSED_SECONDS - now if len(self._at) >= MOST_REFUSED else 0.0
        return max(0.0, forgiven, self._shut_out_until - now)


_BY_ADDRESS: WeakValueDictionary[str, Refusals] = WeakValueDictionary()


def refusals_at(address: str) -> Refusals:
    """Those that all bots of this process share."""
    return _BY_ADDRESS.setdefault(address, Refusals())


class RateBudget:
    def __init__(self, refusals: Refusals | None = None) -> None:
        self._buckets: Bounded[str, str] = Bounded(MOST_WINDOWS)
        self._until: Bounded[str, float] = Bounded(MOST_WINDOWS)
        self._refusals = refusals or Refusals()

    def wait(self, route: str, major: str, now: float) -> float:
        """Seconds until this may be called; 0: now."""
        bucket = self._buckets.get(route, route)
        until = max(self._until.get(f"{bucket} {major}", 0.0), self._until.get(EVERYTHING, 0.0))
        return max(0.0, until - now, self._refusals.wait(now))

    def note(self, route: str, major: str, headers: Mapping[str, str], now: float) -> None:
        """What an answer told of its limit."""
        if (bucket := headers.get("X-RateLimit-Bucket")) is not None:
            self._buckets[route] = bucket
        if headers.get("X-RateLimit-Remaining") == "0":
            self.close(route, major, seconds_in(headers.get("X-RateLimit-Reset-After", "")), now)

    def close(self, route: str, major: str, seconds: float, now: float, *, everywhere: bool = False) -> None:
        key = EVERYTHING if everywhere else f"{self._buckets.get(route, route)} {major}"
        self._until.renew(key, now + seconds)

    def count(self, status: int, scope: str, now: float) -> None:
        """`scope`: whose limit was met; one that everybody shares is nobody's fault."""
        if status in COUNTED and scope != SHARED:
            self._refusals.count(now)

    def shut_out(self, seconds: float, now: float) -> None:
        """What stands before Discord takes nothing from this address any more."""
        self._refusals.shut_out(seconds, now)


def seconds_in(written: str) -> float:
    """0 if it is no number."""
    try:
        return float(written)
    except ValueError:
        return 0.0
