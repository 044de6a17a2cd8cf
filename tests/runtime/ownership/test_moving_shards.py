"""SC-3, SC-4: two gateways on one store, and four shards that move between them at any moment.

Everything is the real thing but the clock, which the test moves, and the platform, which notes when it was called.
Leases run out, renewals are lost, an agent or the platform does not answer for a while, and shards are handed over.
Whatever happens, each message gets one answer, in order, and nobody calls the platform for a shard that is not theirs.
"""

import asyncio
import re
from collections import defaultdict
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.agents.base import Done, TextDelta
from rejoinder.app import Gateway, with_channel
from rejoinder.channels.base import Delivered, Limits
from rejoinder.config.schema import MessagesSettings, QueueSettings, Settings
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.session import shard_of
from rejoinder.store.sqlite import open_store
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.store_contract.given import NOW

SHARDS, CHATS, LEASE = 4, 6, 10.0
CONFIGURED = with_channel(
    Settings(messages=MessagesSettings(queue=QueueSettings(mode="queue", debounce_ms=0))), "fake", "bot", ()
)


class World:
    """The clock, the platform, and what stands in the way."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.agents_answer = asyncio.Event()
        self.platform_answers = asyncio.Event()
        self.agents_answer.set()
        self.platform_answers.set()
        self.said: dict[str, list[str]] = defaultdict(list)
        self.keys: set[str] = set()
        self.wrong: list[str] = []
        self.store = open_store("sqlite::memory:", shards=SHARDS, lease_seconds=LEASE, clock=self.now)

    def now(self):
        return NOW + timedelta(seconds=self.seconds)

    def holder(self, shard: int) -> str | None:
        assert self.store._writer._db is not None
        (holder,) = self.store._writer._db.execute("SELECT holder FROM shard WHERE id = ?", (shard,)).fetchone()
        return holder


class Platform:
    """A channel that takes every key once, and does not answer while the platform is stuck."""

    name = "fake"
    limits = Limits()
    keeps_keys: Literal[True] = True

    def __init__(self, world: World) -> None:
        self.world = world
        self.holder = ""

    async def listen(self, deliver) -> None:
        """The test delivers."""

    async def send(self, part):
        shard = shard_of(f"fake:default:{part.route.chat}", SHARDS)
        if (owner := self.world.holder(shard)) != self.holder:
            self.world.wrong.append(f"{self.holder} says {part.text!r} in shard {shard}, which is {owner}'s")
        if part.key not in self.world.keys:
            self.world.keys.add(part.key)
            self.world.said[part.route.chat].append(part.text)
        await self.world.platform_answers.wait()
        return Delivered(part.key)


class Echo:
    name = "bot"

    def __init__(self, world: World) -> None:
        self.world = world

    async def run(self, turn):
        await self.world.agents_answer.wait()
        yield TextDelta("re " + re.findall(r"#\d+", str(turn))[-1])
        yield Done()


class Process:
    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.platform = Platform(world)
        self.gateway = Gateway(
            CONFIGURED, agents={"bot": Echo(world)}, channels=[self.platform], store=world.store, clock=world.now
        )
        self.name = name

    async def open(self) -> None:
        await self.gateway.__aenter__()
        engines = self.gateway.engines
        engines._boot = lambda: self.world.seconds
        engines.holder = self.platform.holder = self.name

    async def claim(self, shard: int) -> None:
        if (engine := await self.gateway.engines.claim(shard)) is not None:
            self.gateway.engines.start_recovery(engine)

    async def renew(self) -> None:
        engines = self.gateway.engines
        sent, asked = self.world.seconds, engines.leases
        engines.renewed(sent, asked, await self.world.store.renew(self.name, asked))


async def ripple(count: int = 50) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def play(script: list[tuple[str, int, int]]) -> World:
    world = World()
    processes = [Process(world, "one"), Process(world, "two")]
    count, handing = 0, list[asyncio.Task[None]]()
    async with AsyncExitStack() as stack:
        for process in processes:
            await process.open()
            stack.push_async_exit(process.gateway.__aexit__)
        for operation, who, which in script:
            process, engines = processes[who], processes[who].gateway.engines
            match operation:
                case "say":
                    count += 1
                    await says(processes[which % 2], which, count)
                case "claim":
                    await process.claim(which % SHARDS)
                case "renew":
                    await process.renew()
                case "time":
                    world.seconds += which
                case "look":
                    engines.look_at_deadlines()
                    engines.changed()
                case "hand over":
                    handing.append(asyncio.ensure_future(engines.hand_over(which % SHARDS, 0.0, 0.0)))
                case "agents":
                    (world.agents_answer.clear if who else world.agents_answer.set)()
                case "platform":
                    (world.platform_answers.clear if who else world.platform_answers.set)()
                case _:
                    await ripple(which)
        world.agents_answer.set()
        world.platform_answers.set()
        await asyncio.gather(*handing)
        world.seconds += 2 * LEASE
        for process in processes:
            process.gateway.engines.look_at_deadlines()
        for shard in range(SHARDS):
            await processes[shard % 2].claim(shard)
        async with asyncio.timeout(PATIENCE):
            while sum(map(len, world.said.values())) < count or not await is_over(world):
                await ripple()
                for process in processes:
                    process.gateway.engines.changed()
    world.count = count
    return world


async def says(process: Process, chat: int, number: int) -> None:
    who = f"chat-{chat}"
    inbound = Inbound("fake", f"e{number}", f"m{number}", Chat(who, kind="direct"), Sender(who), f"#{number}")
    await process.gateway.dispatch(inbound)


async def is_over(world: World) -> bool:
    census = await world.store.census()
    return not census.runs and "new" not in census.events and not {"planned", "sending", "unknown"} & {*census.parts}


DEEDS = st.one_of(
    st.tuples(st.just("say"), st.just(0), st.integers(0, CHATS - 1)),
    st.tuples(st.just("say"), st.just(0), st.integers(0, CHATS - 1)),
    st.tuples(st.just("claim"), st.integers(0, 1), st.integers(0, SHARDS - 1)),
    st.tuples(st.just("claim"), st.integers(0, 1), st.integers(0, SHARDS - 1)),
    st.tuples(st.just("renew"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("time"), st.just(0), st.integers(1, 11)),
    st.tuples(st.just("look"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("hand over"), st.integers(0, 1), st.integers(0, SHARDS - 1)),
    st.tuples(st.just("agents"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("platform"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("ripple"), st.just(0), st.integers(1, 40)),
)


@given(st.lists(DEEDS, max_size=60))
@settings(max_examples=40, deadline=None)
def test_each_message_gets_one_answer_whoever_owns_it(script: list[tuple[str, int, int]]) -> None:
    """SC-3, SC-4: one answer each, in order, and nothing from a process that has lost the shard."""
    world = asyncio.run(play(script))
    assert world.wrong == []
    for chat, said in world.said.items():
        numbers = [int(number) for text in said for number in re.findall(r"^re #(\d+)$", text)]
        assert numbers == sorted(numbers), (chat, said)
        assert len(set(said)) == len(said), (chat, said)
    assert sum(map(len, world.said.values())) == world.count
