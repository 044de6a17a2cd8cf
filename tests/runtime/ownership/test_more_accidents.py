"""The same, and more of it: processes that are killed or started anew, a store that cannot be written, a platform that
refuses or does not say what became of a message, sub-agents, and what runs again out of quarantine. In the end nothing
is left over in the memory of any engine either (SC-4, DU-2, DU-3, DU-15, TU-36)."""

import asyncio
import re
from contextlib import AsyncExitStack
from typing import Any
from unittest.mock import patch

import pytest

from rejoinder.channels.base import Rejected, Unknown
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.runtime import external_changes, write_batch
from rejoinder.runtime.engine import Engine
from rejoinder.runtime.outbox import outbox, part_results
from rejoinder.runtime.session import slots
from rejoinder.runtime.session.subagents import SubagentParent
from rejoinder.session import job_key
from rejoinder.store.base import Accept, QuarantineEvent, RequestEventRerun
from rejoinder.store.sql.reader import SqlShard
from rejoinder.turns.subagents import SpawnRequest
from tests.runtime.ownership.test_any_order import JOBS, OFTEN, PEOPLE, STEPS, Talks, Trial, Worker, configured
from tests.runtime.ownership.test_moving_shards import CHATS, LEASE, SHARDS, Process, ripple
from tests.runtime.ownership.test_two_homes import written_to

MORE = {
    "two": 2,
    "spawn": 3,
    "refuses": 2,
    "is silent": 2,
    "full": 2,
    "rerun": 1,
    "restart": 1,
    "dies": 1,
}
MOST_DEATHS = 2
"""With which no turn is put into quarantine."""


async def never() -> None:
    await asyncio.Event().wait()


class Moody(Talks):
    """Refuses a message, or does not say whether it took it."""

    trial: "Accidents"

    async def send(self, part: Any) -> Any:
        trial = self.trial
        if self.holder in trial.dead:
            await never()
        mood, trial.mood = trial.mood, ""
        if not mood:
            return await super().send(part)
        self.world.called(self.holder, part.route.chat, f"says {part.text!r}")
        if mood == "refuses":
            trial.refused.append((part.route.chat, part.text))
            return Rejected("no")
        if trial.random.random() < 0.5:
            self._take(part)
        return Unknown("no answer")


class Accidents(Trial):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.mood = ""
        self.refused: list[tuple[str, str]] = []
        self.full = 0
        """So many writes of engines fail from now on."""
        self.dead: set[str] = set()
        self.spawned: dict[int, str] = {}
        self.born = 0
        self.world.called = self.called  # type: ignore[method-assign]

    def called(self, who: str, chat: str, what: str, *, for_session: bool = False) -> None:
        """A chat that nobody wrote to before may be at home with its session."""
        sql = "SELECT shard FROM place WHERE chat = ?"
        (shard,) = self.db.execute(sql, (chat,)).fetchone()
        holder, _, until = self.world.row(shard)
        if holder != who or until <= self.world.now().timestamp() * 1_000_000:
            self.world.foreign_calls.append(f"{who}: {what} in shard {shard}, which is {holder}'s until {until}")

    @property
    def db(self) -> Any:
        return self.world.store._writer._db

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            self._stand_in_the_way(stack)
            stack.push_async_callback(self.world.store.close)
            stack.enter_context(patch.object(self.world.store, "close", lambda: ripple(1)))  # it outlives its gateways
            for chat in range(CHATS):
                if self.random.random() < 0.7:
                    await written_to(self.world, chat)
            for _ in range(2):
                await self.bear()
            try:
                for shard in range(SHARDS):
                    await self.processes[shard % 2].claim(shard)
                for _ in range(STEPS):
                    await self.step()
                await self.end()
            finally:
                for process in self.processes:
                    await process.gateway.__aexit__(None, None, None)
        self.examine()

    def _stand_in_the_way(self, stack: AsyncExitStack) -> None:
        read, write = SqlShard._read, SqlShard.write

        async def may_fail(shard: SqlShard, *asked: Any) -> Any:
            if shard._lease.holder in self.dead:
                await never()
            if self.faults:
                self.faults -= 1
                raise StoreUnavailable("away", "here")
            return await read(shard, *asked)

        async def may_be_full(shard: SqlShard, *verbs: Any) -> Any:
            if shard._lease.holder in self.dead:
                await never()
            if self.full:
                self.full -= 1
                raise StoreUnavailable("full", "here")
            return await write(shard, *verbs)

        stack.enter_context(patch.object(SqlShard, "_read", may_fail))
        stack.enter_context(patch.object(SqlShard, "write", may_be_full))
        for module, name, seconds in (
            (write_batch, "PAUSE", 0.0),
            (external_changes, "PAUSE", 0.0),
            (part_results, "FIRST_LOOK", 0.0),
            (part_results, "LONGEST_PAUSE", 0.0),
            (outbox, "CALLS", 0.02),
            (slots, "STABLE_AFTER", 0.01),
            (slots, "HEAD_START", 0.01),
        ):
            stack.enter_context(patch.object(module, name, seconds))

    async def bear(self) -> None:
        self.born += 1
        process = Process(self.world, f"p{self.born}", Moody, configured(self.scope))
        process.platform.trial = self  # type: ignore[attr-defined]
        process.agent = Worker(self.world)  # type: ignore[assignment]
        process.gateway.agents["bot"] = process.agent  # type: ignore[index]
        await process.open()
        self.processes.append(process)

    async def step(self) -> None:
        if self.random.random() < sum(OFTEN.values()) / sum((*OFTEN.values(), *MORE.values())):
            return await super().step()
        who, chat = self.random.choice(self.processes), self.random.choice(PEOPLE)
        what = self.random.choices([*MORE], [*MORE.values()])[0]
        self.done.append(f"{what} {who.name} {chat}")
        match what:
            case "refuses" | "is silent":
                self.mood = what
            case "full":
                self.full = self.random.randrange(1, 4)
            case "two":
                for each in (who, self.random.choice(self.processes)):
                    await self.says(each, chat, ask=False)
            case "rerun":
                await self.rerun(chat)
            case "spawn":
                self.spawn(chat)
            case "restart" if not self.handing:
                self.processes.remove(who)
                self.world.platform_answers.set()
                await who.gateway.__aexit__(None, None, None)
                await self.bear()
            case "dies" if not self.handing and len(self.dead) < MOST_DEATHS:
                self.processes.remove(who)
                self.dead.add(who.name)
                for held_lease, _ in tuple(who.gateway.engines._held.values()):
                    held_lease.lose()
                self.world.seconds += 2 * LEASE
                await self.bear()

    async def rerun(self, chat: str) -> None:
        """A message that an operator takes out of quarantine."""
        store, id = self.world.store, f"x{self.world.count + 1}"
        self.count += 1
        self.world.count += 1
        self.by_jobs[self.count] = chat  # in its order it is not, as it had been in quarantine
        said = Inbound("fake", f"e{id}", f"m{id}", Chat(chat, "direct"), Sender(chat), f"#{self.count}")
        (event,) = await store.write(Accept((said,), self.world.now()))
        await store.write(QuarantineEvent(event.id, "it crashed"))
        await store.write(RequestEventRerun(event.id))

    def spawn(self, chat: str) -> None:
        session = job_key("bot", self.random.choice(JOBS))
        engines = [each.gateway.engines.of_session(session) for each in self.processes]
        engine = next((each for each in engines if each is not None and each.is_recovered), None)
        if engine is not None:
            self.count += 1
            key = f"k{self.count}"
            by = SubagentParent(session, "bot", Route("fake", chat), (chat,), lifts=True, key=key, by_person=True)
            engine.tasks.start("spawn", self._spawn(engine, by, self.count))

    async def _spawn(self, engine: Engine, by: SubagentParent, number: int) -> None:
        if not isinstance(await engine.subagents.start(SpawnRequest("bot", f"#{number}"), by), str):
            self.spawned[number] = by.route.chat

    async def end(self) -> None:
        self.full, self.mood = 0, ""
        await super().end()
        for _ in range(100):
            if not self.remembered():
                return
            await ripple(50)
            for process in self.processes:
                process.gateway.engines.changed()
        raise AssertionError(self.remembered())

    async def is_over(self) -> bool:
        sql = "SELECT 1 FROM subagent WHERE state = 'running' OR told = 0"
        return not self.db.execute(sql).fetchall() and await super().is_over()

    def remembered(self) -> list[tuple[str, Any]]:
        """What an engine still has in mind of what is over."""
        found: list[tuple[str, Any]] = []
        for engine in [engine for process in self.processes for engine in process.gateway.engines]:
            questions, lanes = engine.turn_runner.questions, engine.lanes
            found += [
                ("sub-agents", (engine.subagents._running, engine.subagents._telling)),
                ("questions", (questions._kept, questions._waiting, questions._asked)),
                ("lanes", ([key for key, lane in lanes._lanes.items() if lane.is_busy],)),
                ("places", ([keys for keys in lanes._keys_at.values() if not keys <= lanes._lanes.keys()],)),
                ("decisions", (engine._place.decider._queues,)),
                ("slots", (engine._slots._own,)),
                ("runs", (engine.turn_runner._contexts,)),
                ("results", tuple(sender._results._waiting for sender in engine.outbox._senders.values())),
            ]
        return [(name, left) for name, left in found if any(left)]

    def examine(self) -> None:
        assert not self.world.foreign_calls, self.world.foreign_calls
        for chat in PEOPLE:
            said = self.world.said[chat]
            numbers = [int(number) for text in said for number in re.findall(r"^re #(\d+)$", text)]
            assert len(set(numbers)) == len(numbers), (chat, said)
            written = [number for number in numbers if number in self.asked_in]
            assert written == sorted(written), (chat, said)
            wanted = {
                number for number, where in (self.asked_in | self.by_jobs | self.spawned).items() if where == chat
            }
            refused = [text for where, text in self.refused if where == chat]
            known = {*numbers, *(int(number) for text in refused for number in re.findall(r"#(\d+)", text))}
            assert not self.is_calm or wanted <= known, (chat, wanted - known, said)


@pytest.mark.parametrize("seed", range(25))
async def test_whatever_happens_besides(seed: int) -> None:
    trial = Accidents(seed)
    try:
        await trial.run()
    except BaseException:  # pytest shows it with the failure
        print(trial.scope, *trial.done, sep="\n")
        raise
