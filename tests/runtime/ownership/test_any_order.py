"""Two gateways, chats and sessions and jobs in different homes, and whatever people and accidents do to them in any
order: nothing is said twice or out of order, nothing is left over, and each gateway ends (SC-1, SC-4, SC-15)."""

import asyncio
import re
from collections import Counter
from contextlib import AsyncExitStack
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from rejoinder.agents.base import Done, Question, TextDelta
from rejoinder.app import with_channel
from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.runtime import external_changes, write_batch
from rejoinder.runtime.session.background import Background
from rejoinder.session import SessionSettings, job_key, session_home, shard_of
from rejoinder.store.sql.reader import SqlShard
from rejoinder.testing.patience import PATIENCE
from tests.runtime.ownership.test_moving_shards import CHATS, LEASE, SHARDS, Finds, Process, World, is_over, ripple
from tests.runtime.ownership.test_two_homes import written_to

STEPS = 60
OFTEN = {
    "turn": 8,
    "says": 5,
    "yes": 5,
    "job": 4,
    "asks": 3,
    "renew": 3,
    "look": 2,
    "agents": 2,
    "platform": 2,
    "stop": 1,
    "edit": 1,
    "delete": 1,
    "claim": 1,
    "lose": 1,
    "lost": 1,
    "give": 1,
    "fault": 1,
}
"""What happens in a step, and how often."""
PEOPLE = tuple(f"chat-{number}" for number in range(CHATS))
JOBS = tuple(f"job-{number}" for number in range(4))


def configured(scope: Any) -> Settings:
    queue = QueueSection(mode="queue", debounce_ms=0)
    plain = Settings(session=SessionSettings(scope=scope), messages=MessagesSettings(queue=queue))
    return with_channel(plain, "fake", "bot", PEOPLE)


class Talks(Finds):
    """What the owner of a session does there is not looked at: they are many."""

    async def typing(self, route: Route, author: str = "") -> None:
        """Nobody sees it."""


class Worker:
    """Answers each message once it may; asks first where the words say so."""

    name = "bot"

    def __init__(self, world: World) -> None:
        self.world = world
        self.asked: dict[str, asyncio.Future[str | None]] = {}

    async def run(self, turn: Any) -> Any:
        number, asks = re.findall(r"#(\d+)( ask)?", str(turn.parts))[-1]
        if asks:
            answer = self.asked[number] = asyncio.get_running_loop().create_future()
            yield Question(number, f"May I do #{number}?")
            await answer
        await self.world.agents_answer.wait()
        yield TextDelta(f"re #{number}")
        yield Done()

    async def answer(self, question: str, option: str | None) -> None:
        if not self.asked[question].done():
            self.asked[question].set_result(option)


class Trial:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.scope = self.random.choice(("shared", "chat"))
        self.is_calm = self.random.random() < 0.5
        """Nobody stops, edits or deletes anything, so everything is answered."""
        self.world = World()
        self.processes: list[Process] = []
        self.handing: list[asyncio.Task[None]] = []
        self.asked_in: dict[int, str] = {}
        self.by_jobs: dict[int, str] = {}
        self.faults = 0
        """So many reads of engines fail from now on."""
        self.count = 0
        self.stops: Counter[str] = Counter()
        self.done: list[str] = []

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            read = SqlShard._read

            async def may_fail(shard: SqlShard, *asked: Any) -> Any:
                if self.faults:
                    self.faults -= 1
                    raise StoreUnavailable("away", "here")
                return await read(shard, *asked)

            stack.enter_context(patch.object(SqlShard, "_read", may_fail))
            for module in (write_batch, external_changes):
                stack.enter_context(patch.object(module, "PAUSE", 0.0))
            for chat in range(CHATS):
                await written_to(self.world, chat)
            for name in ("one", "two"):
                process = Process(self.world, name, Talks, configured(self.scope))
                process.agent = Worker(self.world)  # type: ignore[assignment]
                process.gateway.agents["bot"] = process.agent
                await process.open()
                stack.push_async_exit(process.gateway.__aexit__)
                self.processes.append(process)
            for shard in range(SHARDS):
                await self.processes[shard % 2].claim(shard)
            for _ in range(STEPS):
                await self.step()
            await self.end()
        for process in self.processes:
            assert not len(process.gateway.tasks)
        self.examine()

    async def step(self) -> None:
        who, random = self.random.choice(self.processes), self.random
        chat, shard = random.choice(PEOPLE), random.randrange(SHARDS)
        what = random.choices([*OFTEN], [*OFTEN.values()])[0]
        if self.is_calm and what in ("stop", "edit", "delete"):
            what = "look"
        match what:
            case "says" | "asks":
                await self.says(who, chat, ask=what == "asks")
            case "job":
                await self.job(chat)
            case "yes":
                await self.tells(who, chat, "/approve")
            case "stop":
                self.stops[chat] += 1
                await self.tells(who, chat, "/stop")
            case "edit" | "delete":
                mine = [number for number, where in self.asked_in.items() if where == chat]
                if mine:
                    self.count += 1
                    await self.tells(who, chat, f"#{self.count}" if what == "edit" else "", what, f"m{mine[-1]}")
            case "claim":
                await who.claim(shard)
            case "lose":
                self.world.seconds += LEASE + 1
                await who.claim(shard)
            case "renew":
                for each in self.processes:
                    await each.renew(is_told=True)
            case "lost":
                await who.renew(is_told=False)
            case "look":
                await who.look()
            case "fault":
                self.faults = random.randrange(1, 4)
            case "give":
                self.handing.append(asyncio.create_task(who.gateway.engines.hand_over(shard, 0.0)))
            case "agents":
                (self.world.agents_answer.set if random.random() < 0.5 else self.world.agents_answer.clear)()
            case "platform":
                (self.world.platform_answers.set if random.random() < 0.5 else self.world.platform_answers.clear)()
            case _:
                await ripple(random.randrange(1, 60))
        self.done.append(f"{what} {who.name} {chat} {shard}")

    async def says(self, who: Process, chat: str, *, ask: bool) -> None:
        self.count += 1
        self.asked_in[self.count] = chat
        await self.tells(who, chat, f"#{self.count}" + " ask" * ask, "text", f"m{self.count}")

    async def tells(self, who: Process, chat: str, text: str, entry: Any = "text", message: str = "") -> None:
        self.world.count += 1
        id = f"x{self.world.count}"
        said = Inbound("fake", f"e{id}", message or f"m{id}", Chat(chat, "direct"), Sender(chat), text, entry=entry)
        await who.gateway.dispatch(said)

    async def job(self, chat: str) -> None:
        session = job_key("bot", self.random.choice(JOBS))
        engines = [each.gateway.engines.of(shard_of(session_home(session), SHARDS)) for each in self.processes]
        engine = next((each for each in engines if each is not None and each.is_recovered), None)
        if engine is not None:
            self.count += 1
            ask = " ask" * self.random.choice((True, False))
            turn = Background(
                id=f"j{self.count}",
                agent="bot",
                session=session,
                text=f"#{self.count}{ask}",
                target=Route("fake", chat),
                answerable=(chat,),
            )
            engine.tasks.start("job", self._begin(engine, turn, self.count))

    async def _begin(self, engine: Any, turn: Background, number: int) -> None:
        if await engine.background.begin(turn) is None:
            assert turn.target is not None
            self.by_jobs[number] = turn.target.chat

    async def end(self) -> None:
        """Nothing stands in the way any more, and each shard has an owner; people answer whatever is asked."""
        world = self.world
        world.agents_answer.set()
        world.platform_answers.set()
        self.faults = 0
        await asyncio.gather(*self.handing)
        if self.random.random() < 0.5:
            world.seconds += 2 * LEASE
        for process in self.processes:
            await process.look()
        try:
            async with asyncio.timeout(PATIENCE):
                while not await self.is_over():
                    world.seconds += 1
                    for process in self.processes:
                        await process.renew(is_told=True)
                    for shard in [each.id for each in (await world.store.owners()).shards if each.holder is None]:
                        await self.processes[shard % 2].claim(shard)
                    await ripple(200)
                    for process in self.processes:
                        process.gateway.engines.changed()
                    await ripple(200)
                    for kept in await world.store.open_questions():
                        if kept.state == "open":
                            await self.tells(self.processes[0], kept.route.chat, f"/approve {kept.id}")
        except TimeoutError:
            raise AssertionError(await self.left()) from None

    async def is_over(self) -> bool:
        return await is_over(self.world) and not any((await self.left())[:4])

    async def left(self) -> tuple[Any, ...]:
        store, db = self.world.store, self.world.store._writer._db
        assert db is not None
        requests = db.execute("SELECT session, body FROM home_request").fetchall()
        turns = db.execute("SELECT id, session, state FROM turn WHERE state IN ('open', 'answered')").fetchall()
        waiting = db.execute(
            "SELECT event, session, state FROM turn_input WHERE turn IS NULL AND state = 'waiting'"
        ).fetchall()
        busy = [
            lane.key
            for each in self.processes
            for engine in each.gateway.engines
            for lane in engine.lanes._lanes.values()
            if lane.is_busy
        ]
        return requests, turns, waiting, busy, await store.count_rows(), await store.open_questions()

    def examine(self) -> None:
        assert not self.world.foreign_calls, self.world.foreign_calls
        for chat in PEOPLE:
            said = self.world.said[chat]
            numbers = [int(number) for text in said for number in re.findall(r"^re #(\d+)$", text)]
            assert len(set(numbers)) == len(numbers), (chat, said)
            written = [number for number in numbers if number in self.asked_in]
            assert written == sorted(written), (chat, said)
            wanted = {number for number, where in (self.asked_in | self.by_jobs).items() if where == chat}
            assert not self.is_calm or wanted <= {*numbers}, (chat, wanted, said)
            replies = sum(text in ("Agent was aborted.", "Nothing is running.") for text in said)
            assert replies == self.stops[chat], (chat, self.stops[chat], said)


@pytest.mark.parametrize("seed", range(40))
async def test_whatever_happens(seed: int) -> None:
    trial = Trial(seed)
    try:
        await trial.run()
    except BaseException:  # pytest shows it with the failure
        print(trial.scope, *trial.done, sep="\n")
        raise
