"""How many more calls Discord accepts. It says how long to wait, and it counts refused calls: after ten thousand in ten
minutes it shuts out the whole IP address (CH-28).

Rate windows belong to one bot. Refusals, and the time for which the address is shut out, are counted for all bots of
this process together, as Discord counts them. Both are stored with each bot's cursor, since Discord goes on counting
while a gateway restarts.
"""

from collections.abc import Iterable, Mapping
from weakref import WeakValueDictionary

from msgspec import Struct

from rejoinder.bounded import Bounded

MOST_WINDOWS = 2000
MOST_REFUSED, REFUSED_SECONDS = 8000, 600.0
"""Below Discord's own limit: other programs may share the address."""
GROUPED_SECONDS = 60.0
COUNTED = frozenset({401, 403, 429})
SHARED = "shared"
EVERYTHING = "*"


class RefusedCalls(Struct, frozen=True):
    """Calls that were refused within a minute: when the first and the last of them were, and how many."""

    first: float
    last: float
    count: int


class Refusals:
    """The refused calls of all bots that call one server."""

    def __init__(self) -> None:
        self._groups: list[RefusedCalls] = []
        self._shut_out_until = 0.0

    def count(self, now: float) -> None:
        latest = self._groups[-1] if self._groups else None
        if latest is not None and latest.first <= now < latest.first + GROUPED_SECONDS:
            self._groups[-1] = RefusedCalls(latest.first, now, latest.count + 1)
        else:
            self._groups.append(RefusedCalls(now, now, 1))

    def shut_out(self, seconds: float, now: float) -> None:
        self._shut_out_until = max(self._shut_out_until, now + seconds)

    def wait(self, now: float) -> float:
        self._forgive(now)
        left, forgiven = sum(group.count for group in self._groups), 0.0
        for group in self._groups:
            if left < MOST_REFUSED:
                break
            left, forgiven = left - group.count, group.last + REFUSED_SECONDS - now
        return max(0.0, forgiven, self._shut_out_until - now)

    def _forgive(self, now: float) -> None:
        if self._groups and self._groups[0].last <= now - REFUSED_SECONDS:
            self._groups = [group for group in self._groups if group.last > now - REFUSED_SECONDS]

    # --- across a restart -------------------------------------------------------------------------

    def total(self, now: float) -> int:
        self._forgive(now)
        return sum(group.count for group in self._groups)

    def kept(self, now: float, ahead: float) -> tuple[tuple[RefusedCalls, ...], float]:
        """The counts, and until when the address is shut out, for a clock that is `ahead` of the one of `now`."""
        self._forgive(now)
        groups = tuple(RefusedCalls(each.first + ahead, each.last + ahead, each.count) for each in self._groups)
        return groups, self._shut_out_until + ahead if self._shut_out_until > now else 0.0

    def recall(self, groups: Iterable[RefusedCalls], shut_out_until: float, now: float, ahead: float) -> None:
        """Each bot has stored the same counts, at different moments: the larger count of a group is taken."""
        known = {round(group.first): group for group in self._groups}
        for each in groups:
            stored = RefusedCalls(each.first - ahead, min(each.last - ahead, now), each.count)
            before = known.get(round(stored.first))
            if before is None or before.count < stored.count:
                known[round(stored.first)] = stored
        self._groups = sorted(known.values(), key=lambda group: group.last)
        left = min(shut_out_until - ahead - now, REFUSED_SECONDS)
        if left > 0:
            self.shut_out(left, now)


_BY_ADDRESS: WeakValueDictionary[str, Refusals] = WeakValueDictionary()


def refusals_at(address: str) -> Refusals:
    """The refusals that all bots of this process share."""
    return _BY_ADDRESS.setdefault(address, Refusals())


class RateBudget:
    def __init__(self, refusals: Refusals | None = None) -> None:
        self._buckets: Bounded[str, str] = Bounded(MOST_WINDOWS)
        self._until: Bounded[str, float] = Bounded(MOST_WINDOWS)
        self.refusals = refusals or Refusals()

    def wait(self, route: str, major: str, now: float) -> float:
        """Seconds until this route may be called; 0: now."""
        bucket = self._buckets.get(route, route)
        until = max(self._until.get(f"{bucket} {major}", 0.0), self._until.get(EVERYTHING, 0.0))
        return max(0.0, until - now, self.refusals.wait(now))

    def note(self, route: str, major: str, headers: Mapping[str, str], now: float) -> None:
        """Notes what the headers of a response say about its limit."""
        if (bucket := headers.get("X-RateLimit-Bucket")) is not None:
            self._buckets[route] = bucket
        if headers.get("X-RateLimit-Remaining") == "0":
            self.close(route, major, seconds_in(headers.get("X-RateLimit-Reset-After", "")), now)

    def close(self, route: str, major: str, seconds: float, now: float, *, everywhere: bool = False) -> None:
        key = EVERYTHING if everywhere else f"{self._buckets.get(route, route)} {major}"
        self._until.renew(key, now + seconds)

    def count(self, status: int, scope: str, now: float) -> None:
        """`scope`: whose limit was reached. A limit that everybody shares is not counted as this bot's refusal."""
        if status in COUNTED and scope != SHARED:
            self.refusals.count(now)

    def shut_out(self, seconds: float, now: float) -> None:
        """The proxy in front of Discord accepts nothing more from this IP address."""
        self.refusals.shut_out(seconds, now)


def seconds_in(written: str) -> float:
    """0 if it is not a number."""
    try:
        return float(written)
    except ValueError:
        return 0.0
