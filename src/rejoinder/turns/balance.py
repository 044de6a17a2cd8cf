"""Which shards a process claims and which it gives up, so that they are spread evenly over the live ones (SC-5).

Rule 1: the process with the fewest shards claims free ones, so a shard that was given up does not go back to its last
        owner. If many are free, as after the death of a process, a process does not wait for the others to keep up.
Rule 2: no process gives up a shard while any is free, and each gives up only one at a time.
Rule 3: while the balance is not reached, a process looks again soon, and less often the longer nothing moves. Once it
        is reached, the next look is when the first lease would expire, so that the shards of a dead process are claimed
        at once.
Rule 4: idle shards are given up first, those whose sessions are bound to this machine last (SC-7).
"""

from collections import Counter
from collections.abc import Callable
from enum import IntEnum
from typing import Final
from zlib import crc32

from msgspec import Struct

from rejoinder.events import ShardOwners

RECOVERIES: Final = 2
"""How many shards a process recovers at a time."""
LOOK_SECONDS: Final = 1.0
"""The longest time between two looks at what other processes hold and have written, in seconds."""
MOVING_LOOK_SECONDS: Final = 0.05
"""Seconds between two looks while shards move."""


class BalanceSteps(Struct, frozen=True):
    claim: tuple[int, ...] = ()
    give_up: int | None = None


class StayPriority(IntEnum):
    """Reasons to keep a shard here, the strongest last."""

    IDLE = 0
    RUNNING = 1
    """An agent is at work and would have to be given time to end."""
    BOUND = 2
    """Sessions have files on this machine, and would have to start over on another."""


def balance(
    me: str,
    owners: ShardOwners,
    recovering: frozenset[int],
    leaving: frozenset[int],
    stay_priority: Callable[[int], StayPriority] = lambda _: StayPriority.IDLE,
) -> BalanceSteps:
    """`recovering` and `leaving`: shards of this process that are being claimed or handed over. `stay_priority`: the
    reason to keep a shard here."""
    held = Counter(shard.holder for shard in owners.shards)
    counts = {process: held[process] for process in (*owners.processes, me)}
    mine = [shard.id for shard in owners.shards if shard.holder == me]
    free = [shard.id for shard in owners.shards if shard.holder is None]
    fewest = min(counts.values())
    if free:
        most = -(-len(owners.shards) // len(counts))
        others = [count for process, count in counts.items() if process != me]
        ahead = max(1, len(free) // len(counts))
        room = min(most, min(others, default=most) + ahead) - len(mine)
        room = min(room, RECOVERIES - len(recovering))
        return BalanceSteps(claim=tuple(_from_here(me, free)[: max(0, room)]))
    if len(mine) > fewest + 1 and not leaving and not recovering:
        return BalanceSteps(give_up=min(reversed(mine), key=stay_priority))
    return BalanceSteps()


def is_settled(owners: ShardOwners) -> bool:
    """Whether no shard is free, and no process has two more than another."""
    held = Counter(shard.holder for shard in owners.shards)
    counts = [held[process] for process in owners.processes]
    return not held[None] and (not counts or max(counts) - min(counts) <= 1)


def pause_after(last: float, owners: ShardOwners, *, claims: bool, moved: bool) -> float:
    """Seconds until the next look. `last`: the pause before this look. `claims`: whether this process claims shards.
    `moved`: whether any shard has changed its holder since the last look."""
    if not claims or is_settled(owners):
        return LOOK_SECONDS if owners.first_end is None else min(LOOK_SECONDS, owners.first_end + MOVING_LOOK_SECONDS)
    return MOVING_LOOK_SECONDS if moved else min(LOOK_SECONDS, 2 * last)


def _from_here(me: str, free: list[int]) -> list[int]:
    """The free shards in an order that differs between processes, so that they seldom want the same."""
    start = crc32(me.encode()) % len(free)
    return free[start:] + free[:start]
