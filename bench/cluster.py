"""Several gateways on one PostgreSQL (SC-33). The server, the platform and all processes share this machine.

python -m bench.cluster rate                   messages/s and p50 with 1, 2 and 4 processes, beside SQLite
python -m bench.cluster sessions               10,000 sessions over 4 processes, and what they take of memory
python -m bench.cluster takeover --kills 50    from kill -9 until others hold its shards, and until they answer

Without a name all three, in less than 20 minutes on two free cores. Ends with 1 when a figure is over its bar. What is
measured with no other options is kept in docs/cluster.json, from which docs/scale.md has it.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count as counting
from itertools import pairwise
from pathlib import Path
from random import Random

from bench.cluster_figures import Figures, Rates, SessionMemory, Takeovers, Way, keep, of_hundred
from bench.postgres import course
from bench.served import Measured, resident_mb
from bench.timing import duration, print_table
from rejoinder.testing.platform.telegram.world import person_id
from rejoinder.testing.platform.truth import BOT, Frame
from tests.cluster.several import SHARDS, Cluster, gateways, until
from tests.postgres import Server, a_database, durable_server

LEASE = 10.0
COUNTS = (0, 1, 2, 4)
"""Processes; 0: one on SQLite."""
AT_A_TIME = 100
"""Chats in which somebody waits for an answer."""
QUARTERS = 4
SIDE_BY_SIDE = 4
"""Sets of gateways in each of which one is killed at a time: a takeover is mostly waiting."""


# --- messages a second ------------------------------------------------------------------------------


def rate(chats: int, rounds: int, times: int) -> Rates:
    crowd: list[list[Measured]] = [[] for _ in COUNTS]
    alone: list[list[Measured]] = [[] for _ in COUNTS]
    with durable_server() as running:
        for _ in range(times):  # in turns, so that a busy moment meets all
            for index, count in enumerate(COUNTS):
                crowd[index].append(course(running, count, chats, rounds))
                alone[index].append(course(running, count, 1, 5 * rounds))
    ways = [
        Way(
            count,
            max(each.per_second for each in several),
            min(each.cpu for each in several),
            min(each.p50 for each in several),
            min(each.p50 for each in lone),
        )
        for count, several, lone in zip(COUNTS, crowd, alone, strict=True)
    ]
    found = Rates(chats, tuple(ways), _load())
    head = ["", f"messages/s, {chats} chats", "of SQLite", "CPU a message", "p50", "p50, one chat"]
    rows = [
        [
            way.what,
            f"{way.per_second:.0f}",
            f"{way.per_second / ways[0].per_second:.2f}",
            *map(duration, (way.cpu, way.p50, way.p50_alone)),
        ]
        for way in ways
    ]
    print_table(_title("`rejoinder run` on Telegram", found.load), head, rows)
    return found


# --- many sessions ----------------------------------------------------------------------------------


def sessions(count: int, processes: int) -> SessionMemory:
    with durable_server() as running, tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_sessions(running, Path(folder), count, processes))
    head = ["", *(f"process {number + 1}" for number in range(processes))]
    rows = [
        [f"after {said:,} sessions" if said else "before", *(f"{each:.0f} MB" for each in memory)]
        for said, memory in zip(found.sessions, found.memory, strict=True)
    ]
    told = f"{found.per_second:.0f} messages/s; {found.growth:.2f} x from the first quarter to the last"
    title = f"{count:,} sessions over {processes} processes: resident memory ({told})"
    print_table(_title(title, found.load), head, rows)
    return found


async def _sessions(running: Server, folder: Path, count: int, processes: int) -> SessionMemory:
    async with gateways(folder, running, a_database(running), processes, lease=LEASE) as cluster:
        memory, names = [_memory(cluster)], _names(count)
        steps = [count * quarter // QUARTERS for quarter in range(QUARTERS + 1)]
        began = time.monotonic()
        for first, last in pairwise(steps):
            await _ask_each(cluster, names[first:last])
            memory.append(_memory(cluster))
        took = time.monotonic() - began
        (stored,) = cluster.rows("SELECT count(*) FROM session")[0]
        assert stored == count, f"{stored} sessions"
        return SessionMemory(tuple(steps), tuple(memory), count / took, _load())


def _memory(cluster: Cluster) -> tuple[float, ...]:
    return tuple(resident_mb(each.pid) for each in cluster.machines)


def _names(count: int) -> list[str]:
    """So many people, each with a chat of their own: the platform makes ids of names, and two may get the same."""
    by_id: dict[int, str] = {}
    numbers = counting()
    while len(by_id) < count:
        name = f"person-{next(numbers)}"
        by_id.setdefault(person_id(name), name)
    return list(by_id.values())


async def _ask_each(cluster: Cluster, names: Sequence[str]) -> None:
    """Each of these people asks one question, at most so many at a time; returns when all are answered."""
    free, over = asyncio.Semaphore(AT_A_TIME), asyncio.Event()
    answered: set[str] = set()

    def shown(frame: Frame) -> None:
        if frame.by == BOT and "is short" in frame.text and frame.chat not in answered:  # it may be shown once more
            answered.add(frame.chat)
            free.release()
            if len(answered) == len(names):
                over.set()

    cluster.platform.truth.shown = shown
    for number, name in enumerate(names):
        await free.acquire()
        await cluster.platform.says(name, name, f"q{4 * number + 3}. What is it?")
    await over.wait()


# --- kills ------------------------------------------------------------------------------------------


def takeover(kills: int, processes: int, lease: float) -> Takeovers:
    with durable_server() as running, tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_takeovers(running, Path(folder), kills, processes, lease))
    rows = [
        [what, *(duration(of_hundred(times, each)) for each in (50, 99)), duration(max(times))]
        for what, times in (
            ("others hold all of its shards", found.shards),
            ("the last of its chats is answered", found.answers),
        )
    ]
    title = f"{kills} times kill -9 of one of {processes} gateways, leases of {lease:g} s"
    print_table(_title(title, found.load), ["seconds from the kill until", "p50", "p99", "longest"], rows)
    print(f"\n{found.messages} messages, {found.lost} lost, {found.twice} twice")
    return found


async def _takeovers(running: Server, folder: Path, kills: int, processes: int, lease: float) -> Takeovers:
    """In several sets of gateways at once, each with a database and a platform of its own."""
    sets = min(SIDE_BY_SIDE, kills)
    killed = [_Killing(Random(number)) for number in range(sets)]
    async with asyncio.TaskGroup() as all_of_them:
        for number, each in enumerate(killed):
            here = folder / f"set-{number}"
            here.mkdir()
            share = kills // sets + (number < kills % sets)
            all_of_them.create_task(each.run(here, running, share, processes, lease))
    return Takeovers(
        processes,
        lease,
        tuple(round(seconds, 2) for each in killed for seconds in each.shards),
        tuple(round(seconds, 2) for each in killed for seconds in each.answers),
        sum(len(each.asked) for each in killed),
        sum(len(set(each.asked) - set(each.heard)) for each in killed),
        sum(len(each.heard) - len(set(each.heard)) for each in killed),
        _load(),
    )


class _Killing:
    """One set of gateways, one of which is killed again and again. On Slack: what was being sent is found there again,
    so that every message has its answer once (DU-3)."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.shards: list[float] = []
        self.answers: list[float] = []
        self.asked: list[str] = []
        self.heard: list[str] = []

    async def run(self, folder: Path, running: Server, kills: int, processes: int, lease: float) -> None:
        async with gateways(folder, running, a_database(running), processes, "slack", lease) as cluster:
            for kill in range(kills):
                await until(lambda: cluster.are_even(cluster.machines))
                await self._kill(cluster, kill)
            self.heard = cluster.answers()

    async def _kill(self, cluster: Cluster, kill: int) -> None:
        people = [f"person-{number}" for number in range(4 * len(cluster.machines))]
        numbers = [4 * (kill * len(people) + place) + 3 for place in range(len(people))]
        self.asked += [f"a{number}. is short." for number in numbers]
        killed = self._random.choice(cluster.machines)
        await killed.kill()
        began = time.monotonic()
        for person, number in zip(people, numbers, strict=True):
            await cluster.platform.says(person, person, f"q{number}. What is it?")
        taken = asyncio.ensure_future(_all_held(cluster, killed.pid))
        for person, number in zip(people, numbers, strict=True):
            await cluster.platform.hears(person, f"a{number}. is short.", seconds=120)
        self.answers.append(time.monotonic() - began)
        self.shards.append(await taken - began)
        print(f"a kill: shards {self.shards[-1]:.1f} s, answers {self.answers[-1]:.1f} s", file=sys.stderr)
        await killed.start()


async def _all_held(cluster: Cluster, dead: int) -> float:
    """When others hold everything."""

    def held() -> bool:
        found = cluster.shards()
        return sum(found.values()) == SHARDS and not any(who.split(":")[1] == str(dead) for who in found)

    await until(held)
    return time.monotonic()


# --- all --------------------------------------------------------------------------------------------


def _load() -> float:
    return round(os.getloadavg()[0], 1)


def _title(what: str, load: float) -> str:
    return f"{what}; load average {load:.1f} on {os.cpu_count()} cores"


def _measured(figure: str, given: argparse.Namespace) -> Figures:
    match figure:
        case "rate":
            return rate(given.chats, given.rounds, given.times)
        case "sessions":
            return sessions(given.sessions, given.processes or 4)
        case _:
            return takeover(given.kills, given.processes or 3, given.lease)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("figure", choices=("rate", "sessions", "takeover"), nargs="*")
    parser.add_argument("--chats", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--times", type=int, default=3, help="how often each is measured; the best counts")
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=0, help="4 for sessions and 3 for takeover if not given")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--lease", type=float, default=LEASE, help="seconds")
    given = parser.parse_args()
    is_whole = all(parser.get_default(name) == value for name, value in vars(given).items() if name != "figure")
    over: list[str] = []
    for figure in given.figure or ("rate", "sessions", "takeover"):
        began = time.monotonic()
        figures = _measured(figure, given)
        print(f"measured in {time.monotonic() - began:.0f} s", flush=True)
        over += (f"{figure}: {each}" for each in figures.over())
        if is_whole:
            keep(figures)
    for each in over:
        print(f"over the bar: {each}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
