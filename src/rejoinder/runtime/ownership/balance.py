"""Which shards a process claims and which it gives up, so that they are spread evenly over the live ones (SC-5). Pure.

Rule 1: who has the fewest claims what is free; so a shard that was given up does not go back to where it came from.
        Where much is free, as after a death, nobody waits for the others to keep up with it.
Rule 2: nobody gives up anything while something is free, and each one shard at a time.
"""

from collections import Counter
from typing import Final
from zlib import crc32

from msgspec import Struct

from rejoinder.store.base import ShardOwners

RECOVERIES: Final = 2
"""How many shards a process recovers at a time."""


class Steps(Struct, frozen=True):
    claim: tuple[int, ...] = ()
    give_up: int | None = None


def balance(me: str, owners: ShardOwners, recovering: frozenset[int], leaving: frozenset[int]) -> Steps:
    """`recovering` and `leaving`: shards of this process that are on their way in and out."""
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
        return Steps(claim=tuple(_from_here(me, free)[: max(0, room)]))
    if len(mine) > fewest + 1 and not leaving and not recovering:
        return Steps(give_up=mine[-1])
    return Steps()


def _from_here(me: str, free: list[int]) -> list[int]:
    """In an order that differs between processes, so that they seldom want the same."""
    start = crc32(me.encode()) % len(free)
    return free[start:] + free[:start]
