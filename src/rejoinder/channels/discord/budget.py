"""How many more calls Discord accepts: times for which it has said to wait, and refused calls, of which it counts ten
thousand in ten minutes before it shuts out the whole address (CH-28).

Windows are those of one bot. Refusals are counted for all bots of this process together, as Discord counts them, and so
is the time for which it shuts out the address. Both are stored with how far each bot has read: Discord goes on counting
while a gateway is started again.
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
    """Of all bots that call one address."""

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
        """What was counted, and until when the address is shut out, by a clock that is so far ahead of `now`'s."""
        self._forgive(now)
        groups = tuple(RefusedCalls(each.first + ahead, each.last + ahead, each.count) for each in self._groups)
        return groups, self._shut_out_until + ahead if self._shut_out_until > now else 0.0

    def recall(self, groups: Iterable[RefusedCalls], shut_out_until: float, now: float, ahead: float) -> None:
        """Each bot has stored the same count, at another moment: the larger one holds."""
        known = {round(group.first): group for group in self._groups}
        for each in groups:
            told = RefusedCalls(each.first - ahead, min(each.last - ahead, now), each.count)
            before = known.get(round(told.first))
            if before is None or before.count < told.count:
                known[round(told.first)] = told
        self._groups = sorted(known.values(), key=lambda group: group.last)
        left = min(shut_out_until - ahead - now, REFUSED_SECONDS)
        if left > 0:
            self.shut_out(left, now)


_BY_ADDRESS: WeakValueDictionary[str, Refusals] = WeakValueDictionary()


def refusals_at(address: str) -> Refusals:
    """Those that all bots of this process share."""
    return _BY_ADDRESS.setdefault(address, Refusals())


class RateBudget:
    def __init__(self, refusals: Refusals | None = None) -> None:
        self._buckets: Bounded[str, str] = Bounded(MOST_WINDOWS)
        self._until: Bounded[str, float] = Bounded(MOST_WINDOWS)
        self.refusals = refusals or Refusals()

    def wait(self, route: str, major: str, now: float) -> float:
        """Seconds until this may be called; 0: now."""
        bucket = self._buckets.get(route, route)
        until = max(self._until.get(f"{bucket} {major}", 0.0), self._until.get(EVERYTHING, 0.0))
        return max(0.0, until - now, self.refusals.wait(now))

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
            self.refusals.count(now)

    def shut_out(self, seconds: float, now: float) -> None:
        """What stands before Discord takes nothing from this address any more."""
        self.refusals.shut_out(seconds, now)


def seconds_in(written: str) -> float:
    """0 if it is no number."""
    try:
        return float(written)
    except ValueError:
        return 0.0
