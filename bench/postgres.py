"""SQLite and PostgreSQL side by side: the same gateway on either store, in turns, every commit on the disk.

The server is one of its own, on this machine: it shares the cores with the gateway, the platform and the model.
"""

import asyncio
import tempfile
from collections.abc import Callable, Sequence

from bench.served import Measured, Served
from bench.store import latencies, rows_per_second
from bench.timing import Bars, duration, print_table
from rejoinder.store.base import SharedStore
from rejoinder.store.postgresql.store import SHARDS
from rejoinder.store.postgresql.store import open_store as open_postgres
from rejoinder.store.sqlite.store import open_store as open_sqlite
from tests.postgres import Server, a_database, database_of, durable_server

LEAST = 0.4
"""The bar: at least this share of SQLite's messages a second."""
SESSIONS, EACH, ALONE, TIMES = 50, 20, 100, 3
SERVED = Served("telegram", ("gateway",))


async def _alone(store: SharedStore) -> tuple[float, float]:
    rate, times = await rows_per_second(store), await latencies(store)
    await store.close()
    return rate, sorted(times)[len(times) // 2]


def run() -> None:
    bars = Bars()
    rows: list[list[str]] = []

    def add(what: str, pair: Sequence[float], show: Callable[[float], str], bar: str = "", least: float = 0) -> None:
        sqlite, postgres = pair
        verdict = bars.verdict(what, (least, postgres / sqlite)) if bar else ""
        rows.append([what, show(sqlite), show(postgres), f"{postgres / sqlite:.2f}", bar, verdict])

    with durable_server() as running:
        crowd: tuple[list[Measured], list[Measured]] = ([], [])
        alone: tuple[list[Measured], list[Measured]] = ([], [])
        stores: list[tuple[float, float]] = []
        for _ in range(TIMES):  # in turns, so that a busy moment meets both
            for index in range(2):
                crowd[index].append(course(running, index, SESSIONS, EACH))
                alone[index].append(course(running, index, 1, ALONE))
        with tempfile.TemporaryDirectory() as folder:
            stores.append(asyncio.run(_alone(open_sqlite(f"sqlite:{folder}/rows.db"))))
            stores.append(asyncio.run(_alone(open_postgres(a_database(running)))))
    rate = [max(each.per_second for each in of) for of in crowd]
    add(f"messages/s, {SESSIONS} chats", rate, "{:.0f}".format, f">= {LEAST:g} x", LEAST)
    add("CPU per message of the gateway", [min(each.cpu for each in of) for of in crowd], duration)
    add("message -> send, p50, one chat", [min(each.p50 for each in of) for of in alone], duration)
    add("message -> send, p95, one chat", [min(each.p95 for each in of) for of in alone], duration)
    add("ready", [min(each.ready for each in of) for of in alone], duration)
    add("rows/s of the store alone, 64 producers", [rate for rate, _ in stores], "{:,.0f}".format)
    add("one row alone, p50", [time for _, time in stores], duration)
    head = ["", "SQLite", "PostgreSQL", "ratio", "bar", ""]
    print_table("`rejoinder run` on Telegram, by store", head, rows)
    bars.settle()


def course(running: Server, processes: int, chats: int, rounds: int) -> Measured:
    """With no process on PostgreSQL it is one on SQLite. It begins when each has claimed its share of the shards."""
    if not processes:
        return SERVED.measure("gateway", chats, rounds)
    url = a_database(running)

    def shared() -> bool:
        sql = "SELECT count(*) FROM shard WHERE holder IS NOT NULL GROUP BY holder"
        held = [int(str(count)) for (count,) in running.execute(sql, database_of(url))]
        return len(held) == processes and min(held) >= SHARDS // processes

    return SERVED.measure("gateway", chats, rounds, store=url, processes=processes, shared=shared)
