"""SC-5, SC-32: claim, renew, lose, drain and rebalance of 3 processes and 4 shards, in every order there is.

Two searches, each over all the states that can be reached. `Leases` has time and messages in it: a claim or a renewal
is sent, granted later by the store's clock, and answered later still or never; it proves of one shard that no two
processes ever have an open deadline, which is all that the second one takes from it. `Cluster` has all the shards and
the real `balance`, whose answers are acted on when they may be old; which shards of several alike are meant is left
open, so that all choices are tried. Processes freeze, die and come back in both: a process that does nothing more is
one that no step is taken of.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import permutations
from typing import NamedTuple, TypeVar

import pytest

from rejoinder.events import Shard, ShardOwners
from rejoinder.runtime.ownership.held_lease import deadline_of
from rejoinder.turns.balance import BalanceSteps, balance, is_settled

S = TypeVar("S")


def reachable(first: S, steps: Callable[[S], Iterable[S]]) -> Iterator[S]:
    """Every state, once, the nearest first."""
    found, waiting = {first}, deque([first])
    while waiting:
        yield (state := waiting.popleft())
        for following in steps(state):
            if following not in found:
                found.add(following)
                waiting.append(following)


# --- one shard, with time -----------------------------------------------------------------------------

LEASE = 5
DEADLINE = int(deadline_of(0, LEASE))
"""In the unit of time of this model, by the real rule: 4."""


class Asked(NamedTuple):
    """A claim or a renewal under way; `sent`: how long ago. `granted`: the store has said yes."""

    sent: int
    granted: bool = False


class Leases(NamedTuple):
    """`left`: of the lease in the store, 0: it has run out. `open`: time left of each process's own deadline."""

    holder: int | None = None
    left: int = 0
    open: tuple[int, ...] = (0, 0, 0)
    asked: tuple[Asked | None, ...] = (None, None, None)


def put(row: tuple[S, ...], place: int, value: S) -> tuple[S, ...]:
    return (*row[:place], value, *row[place + 1 :])


def lease_steps(now: Leases, deadline: int = DEADLINE) -> Iterator[Leases]:
    waiting = [None if each is None else Asked(min(each.sent + 1, LEASE), each.granted) for each in now.asked]
    yield Leases(now.holder, max(0, now.left - 1), tuple(max(0, each - 1) for each in now.open), tuple(waiting))
    for process, asked in enumerate(now.asked):
        if asked is None:
            yield now._replace(asked=put(now.asked, process, Asked(0)))
            continue
        yield now._replace(asked=put(now.asked, process, None))  # nobody ever hears of it, or it is refused
        if not asked.granted and (now.holder in (None, process) or not now.left):
            granted = put(now.asked, process, Asked(asked.sent, granted=True))
            yield now._replace(holder=process, left=LEASE, asked=granted)
        if asked.granted:  # the deadline counts from when it was sent, however late the answer comes
            left = max(now.open[process], deadline - asked.sent)
            yield now._replace(open=put(now.open, process, max(0, left)), asked=put(now.asked, process, None))
    if now.holder is not None and not now.open[now.holder] and now.asked[now.holder] is None:
        yield now._replace(holder=None, left=0)  # it is given back: the engine has ended before


def holders(leases: Leases) -> int:
    return sum(left > 0 for left in leases.open)


def test_no_two_processes_have_an_open_deadline() -> None:
    """SC-3, SC-32: whatever is late, lost or frozen, and however the steps of three processes follow each other."""
    found = [holders(each) for each in reachable(Leases(), lease_steps)]
    assert len(found) > 10_000
    assert max(found) == 1


def test_the_search_finds_a_deadline_that_is_too_late() -> None:
    """A test of the test above: with a deadline that counts from the answer, two processes act at the same time."""
    late = reachable(Leases(), lambda now: lease_steps(now, deadline=2 * LEASE))
    assert any(holders(each) > 1 for each in late)


# --- all shards, and who claims what ------------------------------------------------------------------

PROCESSES, SHARDS = 3, 4
GHOST = PROCESSES
"""The holder of what a dead process left until it runs out: who comes back has another name."""
NOBODY = -1


class Held(NamedTuple):
    """One shard. `acts`: its holder's deadline is open; `wanted`: who has decided to claim it, and has not yet."""

    holder: int = NOBODY
    acts: bool = False
    leaving: bool = False
    wanted: int = 0


class Cluster(NamedTuple):
    """`seen`: which processes the store takes for alive, the ghost last."""

    shards: tuple[Held, ...]
    seen: tuple[bool, ...]


def owners(holders: tuple[int, ...], seen: tuple[bool, ...]) -> ShardOwners:
    names = [str(process) for process, is_seen in enumerate(seen) if is_seen]
    shards = [Shard(number, None if holder == NOBODY else str(holder)) for number, holder in enumerate(holders)]
    return ShardOwners(tuple(shards), tuple(names))


@cache
def decided(process: int, holders: tuple[int, ...], seen: tuple[bool, ...], leaving: frozenset[int]) -> BalanceSteps:
    """One claim at a time, as of a process that is recovering another shard meanwhile."""
    found = owners(holders, seen)
    steps = balance(str(process), found, frozenset({SHARDS}), leaving)
    return steps if steps.claim else balance(str(process), found, frozenset(), leaving)


def with_shards(now: Cluster, changed: dict[int, Held]) -> Cluster:
    return now._replace(shards=tuple(changed.get(number, at) for number, at in enumerate(now.shards)))


def quiet_steps(now: Cluster, processes: int) -> Iterator[Cluster]:
    """While nothing goes wrong: processes look and act, drains end, and what nobody acts for runs out."""
    for process in range(processes):
        wanted = [number for number, at in enumerate(now.shards) if at.wanted >> process & 1]
        for number in wanted:
            yield _claimed(now, process, number)
        if not wanted:
            yield from _looked(now, process)
    for number, at in enumerate(now.shards):
        if at.leaving and at.acts:
            yield with_shards(now, {number: Held(wanted=at.wanted)})
        if at.holder != NOBODY and not at.acts:
            yield with_shards(now, {number: Held(wanted=at.wanted)})
    if now.seen[GHOST]:
        yield now._replace(seen=put(now.seen, GHOST, False))


def _claimed(now: Cluster, process: int, number: int) -> Cluster:
    at = now.shards[number]
    wanted = at.wanted & ~(1 << process)
    if at.holder == NOBODY or (at.holder == process and not at.acts):
        return with_shards(now, {number: Held(process, acts=True, wanted=wanted)})
    return with_shards(now, {number: at._replace(wanted=wanted)})


def _looked(now: Cluster, process: int) -> Iterator[Cluster]:
    """It is seen, sees all, and decides by `balance`; of shards that are alike any may be meant."""
    now = now._replace(seen=put(now.seen, process, True))
    yield now
    mine = {number: at for number, at in enumerate(now.shards) if at.holder == process and at.acts}
    leaving = frozenset(number for number, at in mine.items() if at.leaving)
    steps = decided(process, tuple(at.holder for at in now.shards), now.seen, leaving)
    free = [number for number, at in enumerate(now.shards) if at.holder == NOBODY]
    if steps.claim:
        for number in free:
            at = now.shards[number]
            yield with_shards(now, {number: at._replace(wanted=at.wanted | 1 << process)})
    if steps.give_up is not None:
        for number, at in mine.items():
            yield with_shards(now, {number: at._replace(leaving=True)})


def faults(now: Cluster, processes: int) -> Iterator[Cluster]:
    for number, at in enumerate(now.shards):
        if at.acts:  # no renewal came through: its own deadline is the first to pass
            yield with_shards(now, {number: at._replace(acts=False, leaving=False)})
    for process in range(processes):
        if now.seen[process]:
            yield now._replace(seen=put(now.seen, process, False))
            yield _died(now, process)


def _died(now: Cluster, process: int) -> Cluster:
    left = [at._replace(holder=GHOST, acts=False, leaving=False) if at.holder == process else at for at in now.shards]
    kept = ~(1 << process)
    gone = tuple(at._replace(wanted=at.wanted & kept) for at in left)
    return Cluster(gone, put(put(now.seen, process, False), GHOST, True))


ORDERS = {count: list(permutations(range(count))) for count in (1, 2, 3)}


def alike(now: Cluster, processes: int) -> Cluster:
    """One of all that differ only in the names of processes and in the numbers of shards."""
    return min(_renamed(now, order) for order in ORDERS[processes])


@cache
def _renamed_in(at: Held, order: tuple[int, ...]) -> Held:
    holder = order[at.holder] if 0 <= at.holder < len(order) else at.holder
    wanted = sum(1 << name for process, name in enumerate(order) if at.wanted >> process & 1)
    return at._replace(holder=holder, wanted=wanted)


def _renamed(now: Cluster, order: tuple[int, ...]) -> Cluster:
    shards = sorted([_renamed_in(at, order) for at in now.shards])
    seen = list(now.seen)
    for process, name in enumerate(order):
        seen[name] = now.seen[process]
    return Cluster(tuple(shards), tuple(seen))


def is_at_rest(now: Cluster, processes: int) -> bool:
    """Every shard is held by a process that acts for it, in even shares, and nothing is on its way."""
    held = all(at.acts and not at.leaving and not at.wanted for at in now.shards)
    return held and is_settled(owners(tuple(at.holder for at in now.shards), now.seen)) and all(now.seen[:processes])


def in_circles(steps: dict[Cluster, frozenset[Cluster]]) -> int:
    """How many states are on a way that has no end."""
    before = Counter(following for each in steps.values() for following in each)
    ready = [state for state in steps if not before[state]]
    left = len(steps)
    while ready:
        left -= 1
        for following in steps[ready.pop()]:
            before[following] -= 1
            if not before[following]:
                ready.append(following)
    return left


@pytest.mark.parametrize(
    ("processes", "shards"), [(1, 4), (2, 4), (3, 2), pytest.param(3, 4, marks=pytest.mark.deep, id="3-4")]
)
def test_from_everywhere_it_comes_to_rest(processes: int, shards: int) -> None:
    """SC-5, SC-32: after whatever went wrong, and in whatever order processes act when nothing does any more, it ends,
    and only where each shard has its one holder, in even shares, and no drain is left."""
    first = Cluster((Held(),) * shards, (False,) * (PROCESSES + 1))

    found: dict[Cluster, frozenset[Cluster]] = {}

    def all_steps(now: Cluster) -> frozenset[Cluster]:
        found[now] = frozenset(alike(each, processes) for each in quiet_steps(now, processes)) - {now}
        return found[now] | {alike(each, processes) for each in faults(now, processes)}

    deque(reachable(first, all_steps), maxlen=0)
    at_rest = [state for state, following in found.items() if not following]
    assert at_rest
    assert all(is_at_rest(state, processes) for state in at_rest)
    assert not in_circles(found)
