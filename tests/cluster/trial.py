"""One trial on a real PostgreSQL: three gateways and two workers serve one platform, and one of them is in trouble.

The trouble is a kill -9 at a point or at any moment, a freeze or a partition for longer than the leases, a clean stop,
or a restart of the database, which all of them feel. What people saw is judged as in the crash suite.
"""

import asyncio
import signal
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.cli.parts import ShownPart
from rejoinder.store.base import PartState, StoredPart
from rejoinder.testing.platform import FakePlatform
from rejoinder.wiring.stores import open_reader
from tests.cluster import doubt
from tests.cluster.several import SHARDS, Cluster, until
from tests.crash import trial as crash
from tests.crash.gateway import Machine
from tests.crash.points import AT_RANDOM, Personality, Point, point
from tests.postgres import Server, a_database
from tests.store.wire_cut import cuttable

Trouble = Literal["point", "kill", "freeze", "partition", "database", "database, longer than the leases"]
Target = Literal["run", "worker"]
GATEWAYS, WORKERS = 3, 2
LEASE = 10.0
BEYOND = 4.0
"""Seconds by which a freeze or a partition lasts longer than a lease."""
TAKEOVER = 15.0
"""Seconds within which all that one process held is held by others (SC-31)."""
LOOK = 0.1
PATIENCE = 300.0
CHATS = 16
TRIES = 5
"""How often other people are asked when the one in trouble had nothing to do and so came to no point."""
NOT_REACHED = "was never reached"


class Trial(Struct, frozen=True):
    trouble: Trouble
    target: Target
    personality: Personality
    at: str = ""
    """The point, with its pass."""
    seed: int = 1
    messages: int = 32
    lease: float = LEASE

    @property
    def name(self) -> str:
        what = self.at or (f"{self.trouble} #{self.seed}" if self.trouble == "kill" else self.trouble)
        return f"{what} of a {self.role} ({self.personality})" if not self.is_common else f"{what} ({self.personality})"

    @property
    def role(self) -> str:
        return "gateway that listens" if self.target == "run" else "worker"

    @property
    def is_common(self) -> bool:
        """It meets all processes, and everything else on the same server."""
        return self.trouble.startswith("database")

    @property
    def point(self) -> Point:
        return point(self.at.partition(":")[0]) if self.at else AT_RANDOM

    @property
    def judged_as(self) -> crash.Trial:
        files = self.point.name == "K27"
        return crash.Trial(self.point, self.personality, 1, self.messages, talk="files" if files else "answers")


class Result(Struct, frozen=True):
    trial: Trial
    lost: int
    held: int
    duplicated: int
    """Of those of which nobody could know whether they had arrived (DU-3)."""
    takeover: float | None
    """Seconds until others held all that the one in trouble had."""
    wrong: list[str]
    log: str = ""


async def run(trial: Trial, server: Server) -> Result:
    for attempt in range(TRIES):
        result = await _run(replace(trial, seed=trial.seed + 100 * attempt), server)
        if not any(NOT_REACHED in each for each in result.wrong):
            break
    return replace(result, trial=trial)


async def _run(trial: Trial, server: Server) -> Result:
    channel, _, on_unknown = trial.personality.partition(" ")
    judged_as = trial.judged_as
    with TemporaryDirectory(prefix="rejoinder-cluster-") as folder, ExitStack() as wires:
        async with FakePlatform(channel) as platform:
            url = _database(server, trial)
            wire, by_wire = wires.enter_context(cuttable(server, url))

            def machine(name: str, store: str) -> Machine:
                here = Path(folder, name)
                here.mkdir()
                return Machine(
                    here,
                    channel,
                    platform.config(),
                    on_unknown=on_unknown or "hold",
                    mode="collect" if judged_as.collects else "followup",
                    debounce_ms=150 if judged_as.collects else 0,
                    agents=crash.AGENTS.get(judged_as.talk, ("answer",)),
                    store=store,
                    gateway=f"lease_seconds = {trial.lease}",
                )

            stores = [by_wire, *[url] * (GATEWAYS + WORKERS - 1)]
            machines = [machine(f"process-{number}", store) for number, store in enumerate(stores)]
            running = _Running(trial, Cluster(server, url, platform, machines), machine("beside", url), server)
            try:
                async with asyncio.timeout(PATIENCE):
                    await running.begin()
                    async with asyncio.TaskGroup() as tasks:
                        tasks.create_task(running.people())
                        tasks.create_task(running.befall(wire.hold, wire.let_through))
                    await crash.until_done(running.beside, trial.messages)
                    await running.end()
            except TimeoutError:
                running.wrong.append(f"not everything came to its end: {await running.beside.census()}")
            finally:
                wire.let_through()
                for each in machines:
                    await each.kill()
                running.cluster.close()
            return await _result(trial, running, platform)


def _database(server: Server, trial: Trial) -> str:
    if trial.point.way == "first start":
        name = f"empty_{time.time_ns()}"
        server.execute(f"CREATE DATABASE {name}")
        return server.url(name)
    return a_database(server)


async def _result(trial: Trial, running: "_Running", platform: FakePlatform) -> Result:
    listed = await running.beside.unconfirmed()
    wrong = [*running.wrong, *(f"given up: {part.text!r}: {part.why}" for part in listed if part.state == "dead")]
    held = [part.text for part in listed if part.state == "held"]
    wrong += await running.held_wrongly([part for part in listed if part.state == "held"])
    if running.takeover is not None and running.takeover > TAKEOVER:
        wrong.append(f"taken over after {running.takeover:.1f} s")
    running.cluster.close()
    log = "\n".join(f"--- {each.folder.name}\n{each.log[-6000:]}" for each in running.cluster.machines)
    channel = trial.personality.partition(" ")[0]
    under_way = list(running.under_way.values())
    found = crash.judged(
        trial.judged_as, platform.truth, running.asked, wrong, held, under_way, channel, log + running.told(platform)
    )
    twice = len(found.duplicated) + len(found.beside) - len(held) + len(found.held)
    return Result(trial, len(found.lost), len(held), max(0, twice), running.takeover, found.wrong, found.log)


class _Running:
    """A trial under way. The one in trouble is the first of the machines."""

    def __init__(self, trial: Trial, cluster: Cluster, beside: Machine, server: Server) -> None:
        self._trial = trial
        self._random = Random(f"{trial.name} {trial.seed}")
        self._server = server
        self._talks = asyncio.Event()
        self.cluster = cluster
        self.target = cluster.machines[0]
        self.beside = beside
        self.asked: list[crash.Question] = []
        self.under_way: dict[int, StoredPart] = {}
        self.takeover: float | None = None
        self._away = 0.0  # seconds for which the database really was
        self.wrong: list[str] = []

    # --- all of them --------------------------------------------------------------------------------

    async def begin(self) -> None:
        """The one in trouble starts first, so that it is the one that listens."""
        trial, cluster = self._trial, self.cluster
        command = ("run",) if trial.target == "run" else ("worker",)
        if trial.point.way == "first start":
            await self.target.start(trial.at, command)
            await self._dies()
        late = trial.point.name == "K25"
        if not late:
            at = "" if trial.point.way == "first start" else trial.at
            await self.target.start(at, command, once_armed=True)
            if trial.target == "run":
                await until(lambda: self._listener() == self.target.pid, PATIENCE)
        roles = [("run",)] * GATEWAYS + [("worker",)] * WORKERS
        roles.remove(command)
        for machine, role in zip(cluster.machines[1:], roles, strict=True):
            await machine.start(command=role)
        await until(lambda: bool(self._listener()), PATIENCE)
        await until(self._all_have_their_share, PATIENCE)

    def _all_have_their_share(self) -> bool:
        """Of those that run: one may have died at its point already, as it takes and hands over shards."""
        alive = [each for each in self.cluster.machines if each.is_started and each.status is None]
        return self.cluster.are_even(alive)

    async def end(self) -> None:
        for each in self.cluster.machines:
            if (status := await each.terminate()) not in (0, *crash.STOPPED):
                self.wrong.append(f"{each.folder.name} ended with {status} after SIGTERM")

    async def people(self) -> None:
        """Each chat at its own pace, and in a chat the questions in their order."""
        trial = self._trial
        chats = [f"{'#' if number % 4 == 3 else ''}p{trial.seed}x{number}" for number in range(CHATS)]

        async def talk(place: int, chat: str) -> None:
            person = chat.removeprefix("#")
            for number in range(place, trial.messages, CHATS):
                message = await self.cluster.platform.says(chat, person, f"q{number}. What is it?")
                self.asked.append(crash.Question(number, chat, person, message))
                self._talks.set()
                await asyncio.sleep(self._random.uniform(0.2, 2.0))

        if trial.point.way != "sigterm":
            self.target.arm()  # a point is to be met under traffic, not while shards move at the start
        async with asyncio.TaskGroup() as all_of_them:
            for place, chat in enumerate(chats):
                all_of_them.create_task(talk(place, chat))

    # --- trouble ------------------------------------------------------------------------------------

    async def befall(self, hold: Callable[[], None], let_through: Callable[[], None]) -> None:
        trial, target = self._trial, self.target
        await self._talks.wait()
        match trial.trouble:
            case "point":
                await self._at_a_point()
            case "kill":
                await asyncio.sleep(self._random.uniform(0.0, 3.0))
                await target.kill()
                await self._taken_over(time.monotonic())
                await self._start_again()
            case "freeze":
                await asyncio.sleep(self._random.uniform(0.2, 1.5))
                await self._for_long(lambda: target.signal(signal.SIGSTOP), lambda: target.signal(signal.SIGCONT))
            case "partition":
                await asyncio.sleep(self._random.uniform(0.2, 1.5))
                await self._for_long(hold, let_through)
            case _:
                await self._without_database(2.0 if trial.trouble == "database" else trial.lease + BEYOND)

    async def _at_a_point(self) -> None:
        trial, target = self._trial, self.target
        match trial.point.way, trial.point.name:
            case "first start", _:
                return
            case "sigterm", _:
                await until(lambda: len(self.cluster.platform.truth.messages()) > 0)
                target.arm()  # a shard that is handed over is drained too
                began = time.monotonic()
                target.signal(signal.SIGTERM)
            case _, "K25":
                await self.cluster.machines[1].kill()
                await target.start(trial.at, ("run",) if trial.target == "run" else ("worker",))
                began = 0.0
            case _:
                began = 0.0
        if await self._dies():
            await self._taken_over(began or time.monotonic())
            await self._start_again()
            if trial.point.name == "K25":
                await self.cluster.machines[1].start()

    async def _dies(self) -> bool:
        """Returns when it has; or when everything is done without it."""
        trial, target = self._trial, self.target
        is_sure = trial.point.name == "K25"  # it is given its share of the shards in any case, and recovers them
        while target.status is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(target.ended())), LOOK)
            if target.status is None and not is_sure and await self.beside.is_done(trial.messages):
                self.wrong.append(f"{trial.at} {NOT_REACHED}")
                return False
        if target.status != crash.KILLED:
            self.wrong.append(f"the process ended with {target.status} instead of being killed")
        return True

    async def _start_again(self) -> None:
        await self.target.start(command=("run",) if self._trial.target == "run" else ("worker",))

    async def _for_long(self, begin: Callable[[], None], end: Callable[[], None]) -> None:
        begin()
        began = time.monotonic()
        await self._taken_over(began)
        await asyncio.sleep(max(0.0, began + self._trial.lease + BEYOND - time.monotonic()))
        end()
        await until(lambda: self.cluster.shards_of(self.target) >= SHARDS // (GATEWAYS + WORKERS))

    async def _taken_over(self, began: float) -> None:
        """Notes what was under way in the process, until others have all that it had."""
        cluster, pid = self.cluster, self.target.pid
        while True:
            await self._note_under_way(f"shard.holder LIKE '%:{pid}:%'")
            gone = await asyncio.to_thread(lambda: cluster.shards_of(self.target))
            listens = self._trial.target == "run" and await asyncio.to_thread(self._listener) in (pid, 0)
            held = sum((await asyncio.to_thread(cluster.shards)).values())
            if not gone and held == SHARDS and not listens:
                self.takeover = time.monotonic() - began
                return
            await asyncio.sleep(LOOK)

    async def _note_under_way(self, whose: str) -> None:
        sql = f"SELECT part.id FROM part JOIN shard ON shard.id = part.shard WHERE part.state = 'sending' AND {whose}"
        ids = {int(str(number)) for (number,) in await asyncio.to_thread(self.cluster.rows, sql)}
        if ids - self.under_way.keys():
            await self._keep(ids, "sending")

    async def _keep(self, ids: Collection[int], *states: PartState) -> None:
        reader = open_reader(self.cluster.url)
        try:
            self.under_way |= {part.id: part for part in await reader.parts_in(*states) if part.id in ids}
        finally:
            await reader.close()

    async def held_wrongly(self, held: Sequence[ShownPart]) -> list[str]:
        """What is held and need not be; afterwards `under_way` has all that nobody could be sure of."""
        trial, blind = self._trial, self._trial.personality == "telegram hold"
        if not trial.is_common:
            unsure = crash.said_in(list(self.under_way.values()))
            if len(held) > (len(unsure) if blind else 0):
                return [f"held {[part.text for part in held]}, under way were {unsure}"]
            return []
        doubted = doubt.in_doubt(await asyncio.to_thread(doubt.noted, self.cluster))
        await self._keep(doubted, "sent", "held", "dead")
        return [
            *doubt.held_wrongly(held, doubted, blind=blind),
            *doubt.lost_wrongly(doubted, self._away, trial.lease),
        ]

    async def _without_database(self, seconds: float) -> None:
        await asyncio.to_thread(doubt.begin_to_note, self.cluster)
        await asyncio.sleep(self._random.uniform(0.5, 2.0))
        stopped = time.monotonic()
        await asyncio.to_thread(self._server.stop, "immediate")
        await asyncio.sleep(seconds)
        await asyncio.to_thread(self._server.start)
        began = time.monotonic()
        self._away = began - stopped
        await until(lambda: sum(self.cluster.shards().values()) == SHARDS and bool(self._listener()))
        self.takeover = time.monotonic() - began

    # --- what can be seen from outside -----------------------------------------------------------------

    def _listener(self) -> int:
        """The process that listens to the account now; 0: nobody."""
        now = "extract(epoch FROM clock_timestamp()) * 1000000"
        name = self._trial.personality.partition(" ")[0]
        rows = self.cluster.rows(f"SELECT holder FROM named_lease WHERE name = '{name}' AND lease_until > {now}")
        return int(str(rows[0][0]).split(":")[1]) if rows and rows[0][0] else 0

    def told(self, platform: FakePlatform) -> str:
        shown = ("message", "edit", "delete", "typing", "preview")
        frames = [each for each in platform.truth.frames if each.kind in shown]
        return "\n--- people saw\n" + "\n".join(
            f"{each.at:.2f} {each.chat} {each.by} {each.kind} {each.message} {each.text[:60]!r}" for each in frames
        )
