"""SC-5, SC-32: how shards move between processes, searched over interleavings of 3 processes and 4 shards.

The model has what is real about it: a process reads who holds what, decides by `balance`, and acts later, when that may
have changed; leases run out, processes freeze, die and come back. Time is in one rule: a process that is not frozen has
ended its own side before the store lets the lease run out (`held_lease.MARGIN`).
"""

from collections import Counter, deque
from collections.abc import Iterator

import pytest
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Shard, ShardOwners
from rejoinder.turns.balance import LOOK_SECONDS, MOVING_LOOK_SECONDS, BalanceSteps, StayPriority, balance, pause_after

PROCESSES = ("a", "b", "c")
SHARDS = 4


class Process(Struct, frozen=True):
    acts: frozenset[int] = frozenset()
    """The shards for which it has an engine that would send."""
    plan: BalanceSteps | None = None
    """What it decided, and has not done yet."""
    state: str = "up"
    """up, frozen or down."""


class World(Struct, frozen=True):
    holders: tuple[str | None, ...] = (None,) * SHARDS
    processes: tuple[Process, ...] = (Process(),) * len(PROCESSES)

    def owners(self) -> ShardOwners:
        shards = tuple(Shard(number, holder) for number, holder in enumerate(self.holders))
        return ShardOwners(
            shards, tuple(name for name, at in zip(PROCESSES, self.processes, strict=True) if at.state == "up")
        )

    def with_process(self, number: int, process: Process) -> "World":
        others = self.processes
        return replace(self, processes=(*others[:number], process, *others[number + 1 :]))

    def with_holder(self, shard: int, holder: str | None) -> "World":
        return replace(self, holders=(*self.holders[:shard], holder, *self.holders[shard + 1 :]))


def up(world: World) -> list[tuple[str, Process]]:
    return [(name, at) for name, at in zip(PROCESSES, world.processes, strict=True) if at.state == "up"]


def quiet_steps(world: World) -> Iterator[World]:
    """What happens while nothing goes wrong: reading and deciding, then acting."""
    for number, (name, at) in enumerate(zip(PROCESSES, world.processes, strict=True)):
        if at.state != "up":
            continue
        if at.plan is None:
            plan = balance(name, world.owners(), frozenset(), frozenset())
            if plan != BalanceSteps():
                yield world.with_process(number, replace(at, plan=plan))
            continue
        yield _acted(world, number, name, at, at.plan)


def _acted(world: World, number: int, name: str, at: Process, plan: BalanceSteps) -> World:
    acts = at.acts
    for shard in plan.claim:
        if world.holders[shard] is None:
            world, acts = world.with_holder(shard, name), acts | {shard}
    if plan.give_up is not None and plan.give_up in acts:
        acts = acts - {plan.give_up}
        if world.holders[plan.give_up] == name:
            world = world.with_holder(plan.give_up, None)
    return world.with_process(number, replace(at, acts=acts, plan=None))


def faults(world: World) -> Iterator[World]:
    for number, (name, at) in enumerate(zip(PROCESSES, world.processes, strict=True)):
        if at.state == "up":
            yield world.with_process(number, replace(at, state="frozen"))
            for shard in at.acts:  # its renewals are lost: its own deadline comes first
                yield world.with_process(number, replace(at, acts=at.acts - {shard}))
        elif at.state == "frozen":
            # It wakes and looks at its deadlines before it does anything; its plan is old.
            kept = frozenset(shard for shard in at.acts if world.holders[shard] == name)
            yield world.with_process(number, replace(at, state="up", acts=kept))
        for shard, holder in enumerate(world.holders):
            if holder == name and (at.state == "frozen" or shard not in at.acts):
                yield world.with_holder(shard, None)  # the lease has run out in the store


def is_sound(world: World) -> bool:
    """No two processes that can move act for the same shard."""
    acting = Counter(shard for at in world.processes if at.state == "up" for shard in at.acts)
    return all(count == 1 for count in acting.values())


def is_settled(world: World) -> bool:
    counts = [
        world.holders.count(name) for name, at in zip(PROCESSES, world.processes, strict=True) if at.state == "up"
    ]
    held = all(holder is not None for holder in world.holders)
    return held and max(counts) - min(counts) <= 1


def reachable(most: int) -> set[World]:
    seen, waiting = {World()}, deque([World()])
    while waiting and len(seen) < most:
        world = waiting.popleft()
        for following in (*quiet_steps(world), *faults(world)):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return seen


def test_no_two_processes_act_for_a_shard_in_any_order_of_things() -> None:
    """SC-32: claim, renew, lose, drain and rebalance, with processes that freeze and leases that run out."""
    worlds = reachable(60_000)
    assert len(worlds) > 10_000
    assert all(map(is_sound, worlds))


def test_from_everywhere_it_comes_to_rest_evenly() -> None:
    """SC-5, SC-32: whatever has happened, in whatever order they act: soon all shards are held, and none has two more
    than another."""
    for start in sorted(reachable(3_000), key=repr)[::10]:
        world = start
        for shard, holder in enumerate(world.holders):  # what nobody acts for runs out sooner or later
            if not any(name == holder and shard in at.acts for name, at in up(world)):
                world = world.with_holder(shard, None)
        for turn in range(60):
            steps = list(quiet_steps(world))
            if not steps:
                break
            world = steps[turn % len(steps)]
        assert not any(at.state == "up" for at in world.processes) or is_settled(world), (start, world)


def test_a_newcomer_gets_its_share_one_after_the_other() -> None:
    """SC-5: nobody gives up two at a time, nor while something is free, nor to get the same back."""
    four = tuple(Shard(number, "a") for number in range(4))
    assert balance("a", ShardOwners(four, ("a", "b")), frozenset(), frozenset()) == BalanceSteps(give_up=3)
    assert balance("a", ShardOwners(four, ("a", "b")), frozenset(), frozenset({3})) == BalanceSteps()
    three = (*four[:3], Shard(3, None))
    assert balance("a", ShardOwners(three, ("a", "b")), frozenset(), frozenset()) == BalanceSteps()
    assert balance("b", ShardOwners(three, ("a", "b")), frozenset(), frozenset()) == BalanceSteps(claim=(3,))
    free = tuple(Shard(number, None) for number in range(64))
    assert len(balance("a", ShardOwners(free, ("a",)), frozenset({1, 2}), frozenset()).claim) == 0


def test_what_is_bound_to_a_machine_goes_last() -> None:
    """SC-7: idle shards first, then those in which an agent works, then those whose sessions would begin again."""
    stays = {
        0: StayPriority.IDLE,
        1: StayPriority.BOUND,
        2: StayPriority.IDLE,
        3: StayPriority.RUNNING,
        4: StayPriority.BOUND,
    }
    gone: list[int] = []
    for _ in range(3):
        shards = tuple(Shard(number, "b" if number in gone else "a") for number in stays)
        step = balance("a", ShardOwners(shards, ("a", "b", "new")), frozenset(), frozenset(), stays.__getitem__)
        gone += () if step.give_up is None else (step.give_up,)
    assert gone == [2, 0, 3]


FREE, MINE, OTHERS = Shard(0, None), Shard(1, "a"), Shard(2, "b")


@pytest.mark.parametrize(
    ("shards", "first_end", "claims", "moved", "pause"),
    [
        ((MINE, OTHERS), 9.0, True, False, LOOK_SECONDS),
        ((MINE, OTHERS), None, True, False, LOOK_SECONDS),
        ((MINE, OTHERS), 0.4, True, False, 0.4 + MOVING_LOOK_SECONDS),
        ((FREE, MINE, OTHERS), 9.0, True, True, MOVING_LOOK_SECONDS),
        ((FREE, MINE, OTHERS), 9.0, True, False, 0.6),
        ((MINE, Shard(2, "a"), Shard(3, "a")), 9.0, True, True, MOVING_LOOK_SECONDS),
        ((FREE, MINE, OTHERS), 9.0, False, True, LOOK_SECONDS),
    ],
    ids=["all is well", "on a file", "a lease runs out", "one is free", "still free", "uneven", "a front"],
)
def test_when_a_process_looks_again(
    shards: tuple[Shard, ...], first_end: float | None, claims: bool, moved: bool, pause: float
) -> None:
    """SC-5: right after a lease has run out, in quick steps while shards move, and else each second."""
    owners = ShardOwners(shards, ("a", "b"), first_end=first_end)
    assert pause_after(0.3, owners, claims=claims, moved=moved) == pause
    assert pause_after(LOOK_SECONDS, owners, claims=claims, moved=moved) <= LOOK_SECONDS
