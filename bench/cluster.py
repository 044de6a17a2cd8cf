"""Several gateways on one PostgreSQL (SC-33). The server, the platform and all processes share this machine.

python -m bench.cluster rate                   messages/s and p50 with 1, 2 and 4 processes, beside SQLite
python -m bench.cluster sessions               10,000 sessions over 4 processes, and what they take of memory
python -m bench.cluster takeover --kills 50    from kill -9 until others hold its shards, and until they answer
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from bench.postgres import LEAST, store_url
from bench.served import Measured, Served, resident_mb
from bench.timing import Bars, BarsMissed, duration, print_table
from rejoinder.testing.platform.truth import BOT, Frame
from tests.cluster.several import Cluster, gateways, until
from tests.postgres import Server, a_database, database_of, durable_server

SERVED = Served("telegram", ("gateway",))
SHARDS, LEASE = 64, 10.0
COUNTS = (1, 2, 4)
TAKEOVER = 15.0
"""The bar: p99 of the seconds until somebody else answers."""
AT_A_TIME = 100
"""Chats in which somebody waits for an answer."""
QUARTERS = 4
GROWTH = 1.5
"""The bar: the memory of a process after all sessions, over that after the first quarter."""


# --- messages a second ------------------------------------------------------------------------------


def rate(chats: int, rounds: int, times: int) -> None:
    bars = Bars()
    ways = [("SQLite, 1 process", 0), *((f"PostgreSQL, {n} process{'es' if n > 1 else ''}", n) for n in COUNTS)]
    crowd: list[list[Measured]] = [[] for _ in ways]
    alone: list[list[Measured]] = [[] for _ in ways]
    with durable_server() as running:
        for _ in range(times):  # in turns, so that a busy moment meets all
            for index, (_, count) in enumerate(ways):
                crowd[index].append(_course(running, count, chats, rounds))
                alone[index].append(_course(running, count, 1, 5 * rounds))
    best = [max(each.per_second for each in of) for of in crowd]
    rows: list[list[str]] = []
    for index, (what, count) in enumerate(ways):
        bar, verdict = "", ""
        if count == 1:
            bar, verdict = f">= {LEAST:g} x", bars.verdict(what, (LEAST, best[index] / best[0]))
        elif count == 2:
            bar, verdict = "> one process", bars.verdict(what, (best[1], best[index]))
        cpu = min(each.cpu for each in crowd[index])
        p50, p50_alone = (min(each.p50 for each in of[index]) for of in (crowd, alone))
        figures = [f"{best[index]:.0f}", f"{best[index] / best[0]:.2f}", duration(cpu), duration(p50)]
        rows.append([what, *figures, duration(p50_alone), bar, verdict])
    head = ["", f"messages/s, {chats} chats", "of SQLite", "CPU a message", "p50", "p50, one chat", "bar", ""]
    print_table(_title("`rejoinder run` on Telegram"), head, rows)
    bars.settle()


def _course(running: Server, processes: int, chats: int, rounds: int) -> Measured:
    url = store_url(running, min(processes, 1))
    several = max(1, processes)

    def shared() -> bool:
        return not processes or (len(held := _shards(running, url)) == several and min(held) >= SHARDS // several)

    return SERVED.measure("gateway", chats, rounds, store=url, processes=several, shared=shared)


def _shards(running: Server, url: str) -> list[int]:
    sql = "SELECT count(*) FROM shard WHERE holder IS NOT NULL GROUP BY holder"
    return [int(str(count)) for (count,) in running.execute(sql, database_of(url))]


# --- many sessions ----------------------------------------------------------------------------------


def sessions(count: int, processes: int) -> None:
    bars = Bars()
    with durable_server() as running, tempfile.TemporaryDirectory() as folder:
        found, took = asyncio.run(_sessions(running, Path(folder), count, processes))
    head = ["", *(f"process {number + 1}" for number in range(processes))]
    rows = [[what, *(f"{each:.0f} MB" for each in memory)] for what, memory in found]
    growth = max(last / first for first, last in zip(found[1][1], found[-1][1], strict=True))
    told = f"{count / took:.0f} messages/s; {growth:.2f} x from the first quarter to the last"
    print_table(_title(f"{count:,} sessions over {processes} processes: resident memory ({told})"), head, rows)
    bars.verdict("memory", (growth, GROWTH))
    bars.settle()


async def _sessions(
    running: Server, folder: Path, count: int, processes: int
) -> tuple[list[tuple[str, list[float]]], float]:
    async with gateways(folder, running, a_database(running), processes, lease=LEASE) as cluster:
        memory = [("before", [resident_mb(each.pid) for each in cluster.machines])]
        began = time.monotonic()
        for quarter in range(QUARTERS):
            first, last = (count * each // QUARTERS for each in (quarter, quarter + 1))
            await _ask_each(cluster, range(first, last))
            memory.append((f"after {last:,} sessions", [resident_mb(each.pid) for each in cluster.machines]))
        took = time.monotonic() - began
        (stored,) = cluster.rows("SELECT count(*) FROM session")[0]
        assert stored == count, f"{stored} sessions"
        return memory, took


async def _ask_each(cluster: Cluster, numbers: Sequence[int]) -> None:
    """Each of so many people asks one question, at most so many at a time; returns when all are answered."""
    free, answered = asyncio.Semaphore(AT_A_TIME), 0
    over = asyncio.Event()

    def shown(frame: Frame) -> None:
        nonlocal answered
        if frame.by == BOT and "is short" in frame.text:
            answered += 1
            free.release()
            if answered == len(numbers):
                over.set()

    cluster.platform.truth.shown = shown
    for number in numbers:
        await free.acquire()
        await cluster.platform.says(f"person-{number}", f"person-{number}", f"q{4 * number + 3}. What is it?")
    await over.wait()


# --- kills ------------------------------------------------------------------------------------------


def takeover(kills: int, processes: int, lease: float) -> None:
    bars = Bars()
    with durable_server() as running, tempfile.TemporaryDirectory() as folder:
        shards, answers, asked, heard = asyncio.run(_takeover(running, Path(folder), kills, processes, lease))
    rows: list[list[str]] = []
    for what, times in (("others hold all of its shards", shards), ("the last of its chats is answered", answers)):
        p99 = statistics.quantiles(times, n=100, method="inclusive")[-1] if len(times) > 1 else times[0]
        verdict = bars.verdict(what, (p99, TAKEOVER)) if times is answers else ""
        rows.append([what, duration(statistics.median(times)), duration(p99), duration(max(times)), verdict])
    lost, twice = len(set(asked) - set(heard)), len(heard) - len(set(heard))
    title = f"{kills} times kill -9 of one of {processes} gateways, leases of {lease:g} s"
    print_table(_title(title), ["seconds from the kill until", "p50", "p99", "longest", ""], rows)
    print(f"\n{len(asked)} messages, {lost} lost, {twice} twice")
    bars.verdict("messages", (lost + twice, 0))
    bars.settle()


async def _takeover(
    running: Server, folder: Path, kills: int, processes: int, lease: float
) -> tuple[list[float], list[float], list[str], list[str]]:
    """On Slack: what was being sent is found there again, so that every message has its answer once (DU-3)."""
    random, asked = Random(1), list[str]()
    shards: list[float] = []
    answers: list[float] = []
    async with gateways(folder, running, a_database(running), processes, "slack", lease) as cluster:
        people = [f"person-{number}" for number in range(4 * processes)]
        for kill in range(kills):
            await until(lambda: all(cluster.shards_of(each) >= SHARDS // processes for each in cluster.machines))
            killed = random.choice(cluster.machines)
            numbers = [4 * (kill * len(people) + place) + 3 for place in range(len(people))]
            asked += [f"a{number}. is short." for number in numbers]
            await killed.kill()
            began = time.monotonic()
            for person, number in zip(people, numbers, strict=True):
                await cluster.platform.says(person, person, f"q{number}. What is it?")
            taken = asyncio.ensure_future(_all_held(cluster, killed.pid))
            for person, number in zip(people, numbers, strict=True):
                await cluster.platform.hears(person, f"a{number}. is short.", seconds=120)
            answers.append(time.monotonic() - began)
            shards.append(await taken - began)
            print(f"kill {kill + 1}: shards {shards[-1]:.1f} s, answers {answers[-1]:.1f} s", file=sys.stderr)
            await killed.start()
        return shards, answers, asked, cluster.answers()


async def _all_held(cluster: Cluster, dead: int) -> float:
    """When others hold everything."""

    def held() -> bool:
        found = cluster.shards()
        return sum(found.values()) == SHARDS and not any(who.split(":")[1] == str(dead) for who in found)

    await until(held)
    return time.monotonic()


def _title(what: str) -> str:
    return f"{what}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


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
    missed = False
    for figure in given.figure or ("rate", "sessions", "takeover"):
        try:
            match figure:
                case "rate":
                    rate(given.chats, given.rounds, given.times)
                case "sessions":
                    sessions(given.sessions, given.processes or 4)
                case _:
                    takeover(given.kills, given.processes or 3, given.lease)
        except BarsMissed as over:
            print(f"\n{figure}: over the bar: {over}")
            missed = True
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
