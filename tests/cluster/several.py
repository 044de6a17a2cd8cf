"""Several gateways of one configuration on one database, and what can be seen of them from outside."""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.truth import standing
from tests.crash.gateway import Machine
from tests.postgres import Server, database_of

HOW = {"on_unknown": "hold", "mode": "followup", "debounce_ms": 0, "drafts": False}
SHARDS = 64
LEASE = 4.0
"""Seconds: long enough for a loaded machine, short enough for a test."""


class Cluster:
    def __init__(self, server: Server, url: str, platform: FakePlatform, machines: list[Machine]) -> None:
        self.machines = machines
        self.platform = platform
        self.url = url
        self._server = server
        self._db: Any = None
        self._one_at_a_time = threading.Lock()

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        import psycopg

        try:
            with self._one_at_a_time:
                done = self._connected().execute(sql.encode())
                return done.fetchall() if done.description is not None else []
        except psycopg.errors.UndefinedTable:  # nobody has made the tables yet
            return []
        except psycopg.OperationalError:  # the server was restarted
            self.close()
            return self._server.execute(sql, database_of(self.url))

    def _connected(self) -> Any:
        """One connection for all looks: to open one for each would keep the server busy."""
        import psycopg

        if self._db is None or self._db.closed:
            self._db = psycopg.connect(self._server.url(database_of(self.url)), autocommit=True)
        return self._db

    def close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def shards(self) -> Counter[str]:
        """How many shards each live process holds, by what it is called."""
        now = "extract(epoch FROM clock_timestamp()) * 1000000"
        return Counter(
            {
                str(who): int(str(n))
                for who, n in self.rows(f"SELECT holder, count(*) FROM shard WHERE lease_until > {now} GROUP BY holder")
            }
        )

    def listener(self, name: str) -> str:
        rows = self.rows(f"SELECT holder FROM named_lease WHERE name = '{name}' AND holder IS NOT NULL")
        return str(rows[0][0]) if rows else ""

    def of(self, holder: str) -> Machine:
        """The machine that a holder of leases runs on."""
        pid = int(holder.split(":")[1])
        return next(each for each in self.machines if each.pid == pid)

    def are_even(self, machines: Sequence[Machine]) -> bool:
        """Whether each of these has its share."""
        held = Counter[int]()
        for who, count in self.shards().items():
            held[int(who.split(":")[1])] += count
        return all(held[each.pid] >= SHARDS // len(machines) for each in machines)

    def shards_of(self, machine: Machine) -> int:
        return sum(count for who, count in self.shards().items() if who.split(":")[1] == str(machine.pid))

    def answers(self) -> list[str]:
        return sorted(seen.text for seen in standing(self.platform.truth.frames) if "is short" in seen.text)


async def until(condition: Callable[[], bool], seconds: float = 2 * PATIENCE) -> None:
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - other processes write it
            await asyncio.sleep(0.1)


@asynccontextmanager
async def gateways(
    folder: Path,
    server: Server,
    url: str,
    count: int,
    channel: str = "telegram",
    lease: float = LEASE,
    fronts: int = 0,
    owner: str = "",
) -> AsyncIterator[Cluster]:
    """So many, each of which holds its share of the shards when this begins. With fronts besides, these are workers.
    `owner`: the person who owns them."""
    async with FakePlatform(channel) as platform:
        machines: list[Machine] = []
        here_too = f'\nowners = ["{platform.id_of(owner)}"]' if owner else ""
        for number in range(count + fronts):
            here = folder / f"gateway-{number}"
            here.mkdir()
            more = f"lease_seconds = {lease}"
            machines.append(Machine(here, channel, platform.config() + here_too, store=url, gateway=more, **HOW))
        cluster = Cluster(server, url, platform, machines)
        try:
            for machine in machines[:count]:
                await machine.start(command=("worker",) if fronts else ("run",))
            for machine in machines[count:]:
                await machine.start(command=("run", "--front"))
            await until(lambda: cluster.are_even(machines[:count]))
            yield cluster
        finally:
            for machine in machines:
                await machine.kill()
            cluster.close()
