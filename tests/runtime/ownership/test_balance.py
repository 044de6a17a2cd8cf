"""SC-5, SC-32: how shards move between processes, searched over interleavings of 3 processes and 4 shards.

The model has what is real about it: a process reads who holds what, decides by `balance`, and acts later, when that may
have changed; leases run out, processes freeze, die and come back. Time is in one rule: a process that is not frozen has
ended its own side before the store lets the lease run out (`held_lease.MARGIN`).
"""

from collections import Counter, deque
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.runtime.ownership.balance import Steps, balance
from rejoinder.store.base import Shard, ShardOwners

PROCESSES = ("a", "b", "c")
SHARDS = 4


class Process(Struct, frozen=True):
    acts: frozenset[int] = frozenset()
    """The shards for which it has an engine that would send."""
    plan: Steps | None = None
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
            if plan != Steps():
                yield world.with_process(number, replace(at, plan=plan))
            continue
        yield _acted(world, number, name, at, at.plan)


def _acted(world: World, number: int, name: str, at: Process, plan: Steps) -> World:
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
    assert balance("a", ShardOwners(four, ("a", "b")), frozenset(), frozenset()) == Steps(give_up=3)
    assert balance("a", ShardOwners(four, ("a", "b")), frozenset(), frozenset({3})) == Steps()
    three = (*four[:3], Shard(3, None))
    assert balance("a", ShardOwners(three, ("a", "b")), frozenset(), frozenset()) == Steps()
    assert balance("b", ShardOwners(three, ("a", "b")), frozenset(), frozenset()) == Steps(claim=(3,))
    free = tuple(Shard(number, None) for number in range(64))
    assert len(balance("a", ShardOwners(free, ("a",)), frozenset({1, 2}), frozenset()).claim) == 0
