"""What it costs to keep things: durable rows with 64 producers, one commit alone, a restart with much waiting."""

import asyncio
import sqlite3
import statistics
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from bench.timing import Bars, duration, print_table
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.store.base import Accept, Destination, RouteEvent, SharedStore
from rejoinder.store.sqlite.store import open_store

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
TEXT = "Could you look at the report again? The numbers for March seem to be off by one day. " * 3
PRODUCERS = 64
EACH = 150
ALONE = 300
WAITING = 10_000
RESTART_BAR = 5.0


def an_event(name: str) -> Inbound:
    return Inbound("bench", name, name, Chat("chat"), Sender("anna", "Anna"), TEXT)


async def rows_per_second(store: SharedStore) -> float:
    """Each producer waits for its commit before it brings the next row."""

    async def produce(producer: int) -> None:
        for number in range(EACH):
            await store.write(Accept((an_event(f"{producer}-{number}"),), NOW))

    begin = perf_counter()
    await asyncio.gather(*map(produce, range(PRODUCERS)))
    return PRODUCERS * EACH / (perf_counter() - begin)


async def latencies(store: SharedStore) -> list[float]:
    times: list[float] = []
    for number in range(ALONE):
        begin = perf_counter()
        await store.write(Accept((an_event(f"alone-{number}"),), NOW))
        times.append(perf_counter() - begin)
    return times


def bare_latencies(path: Path) -> list[float]:
    """The same row with nothing around it: what this disk and SQLite take in any case."""
    db = sqlite3.connect(path, isolation_level=None)
    for sql in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE inbox (id TEXT, body BLOB)"):
        db.execute(sql)
    times: list[float] = []
    for number in range(ALONE):
        begin = perf_counter()
        db.execute("INSERT INTO inbox VALUES (?, ?)", (f"{number}", TEXT.encode()))
        times.append(perf_counter() - begin)
    db.close()
    return times


async def measure_writes(url: str) -> Sequence[str]:
    store = open_store(url)
    rate, alone = await rows_per_second(store), await latencies(store)
    await store.close()
    return (f"{rate:,.0f}", *spread(alone))


def spread(times: list[float]) -> Sequence[str]:
    hundredths = statistics.quantiles(times, n=100)
    return [duration(seconds) for seconds in (statistics.median(times), hundredths[94], hundredths[98])]


async def fill(url: str) -> None:
    store = open_store(url)
    for start in range(0, WAITING, 200):
        events = tuple(an_event(f"{number}") for number in range(start, start + 200))
        kept = await store.write(Accept(events, NOW))
        for event in kept[::2]:
            await store.write(RouteEvent(event.id, (Destination(f"session-{event.id % 50}"),)))
    await store.close()


async def measure_restart(url: str) -> float:
    await fill(url)
    begin = perf_counter()
    store = open_store(url)
    recovery = await store.recover(NOW)
    took = perf_counter() - begin
    found = sum(len(line.gathered) + len(line.singly) for line in recovery.backlogs) + len(recovery.events)
    assert found == WAITING
    await store.close()
    return took


def run() -> None:
    bars = Bars()
    with tempfile.TemporaryDirectory() as folder:
        file = f"sqlite:{Path(folder) / 'bench.db'}"
        rows = [
            ["a file, every commit on the disk", *asyncio.run(measure_writes(file))],
            ["bare sqlite3, the same disk", "", *spread(bare_latencies(Path(folder) / "bare.db"))],
            ["in memory", *asyncio.run(measure_writes("sqlite::memory:"))],
        ]
        head = ["store", f"rows/s, {PRODUCERS} producers", "alone p50", "p95", "p99"]
        print_table("Store: accepting messages, each awaited until it is durable", head, rows)
        restart = asyncio.run(measure_restart(f"sqlite:{Path(folder) / 'restart.db'}"))
    verdict = bars.verdict("restart", (restart, RESTART_BAR))
    print(
        f"  restart with {WAITING:,} waiting rows: {duration(restart).strip()} (at most {RESTART_BAR:.0f} s): {verdict}"
    )
    bars.settle()
