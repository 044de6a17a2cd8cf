"""What a process keeps of the people who are not talking (DU-5, SC-33)."""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from weakref import ref

from rejoinder.agents.base import MOST_REMEMBERED_SESSIONS, AgentEvent, Done, Exchange, TextDelta
from rejoinder.app import Gateway, with_channel
from rejoinder.channels.base import Delivered, Limits
from rejoinder.config.schema import Settings
from rejoinder.events import Chat, Inbound, Part, Sender, Turn
from rejoinder.runtime.recent import MOST
from rejoinder.store.sqlite import open_store
from rejoinder.testing.patience import PATIENCE

SHARDS = 4


class Platform:
    """Keeps nothing."""

    name = "fake"
    limits = Limits()
    said = 0

    async def listen(self, deliver) -> None:
        """The test delivers."""

    async def send(self, part: Part) -> Delivered:
        self.said += 1
        return Delivered(f"m{self.said}")


class Forgetful:
    """Remembers as many sessions as agents do, and no more; says in which it was not reminded of what it forgot."""

    name = "bot"

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self.lost: list[str] = []

    def recall(self, session: str, past: tuple[Exchange, ...]) -> None:
        self._remember(session)

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        if session_is_older(turn) and turn.session not in self._known:
            self.lost.append(turn.session)
        self._remember(turn.session)
        yield TextDelta("Yes.")
        yield Done()

    def _remember(self, session: str) -> None:
        self._known.pop(session, None)
        self._known[session] = None
        if len(self._known) > MOST_REMEMBERED_SESSIONS:
            del self._known[next(iter(self._known))]


def session_is_older(turn: Turn) -> bool:
    return any("again" in getattr(part, "text", "") for part in turn.parts)


class Town:
    """A gateway with several shards, and its people, each with a chat of their own."""

    def __init__(self, gateway: Gateway) -> None:
        self.engines = gateway.engines
        self._gateway = gateway
        self._count = 0

    async def say(self, words: str, people: range) -> None:
        """Each of these people says this; returns when all are answered and nothing is left to do."""
        for person in people:
            self._count += 1
            id, name = f"id-{self._count}", f"person-{person}"
            await self._gateway.dispatch(Inbound("fake", id, id, Chat(name), Sender(name), words))
            if not self._count % 50:
                await self.rest()
        await self.rest()

    async def rest(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._gateway.tasks.idle(besides=self._gateway.listening.tasks)


@asynccontextmanager
async def town(agent: Forgetful) -> AsyncGenerator[Town]:
    settings = with_channel(Settings(), "fake", agent.name, ())
    store = open_store("sqlite::memory:", shards=SHARDS)
    async with Gateway(settings, agents={agent.name: agent}, channels=[Platform()], store=store) as gateway:
        yield Town(gateway)


@contextmanager
def without_collector() -> Generator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def ours() -> Counter[str]:
    kinds = (type(each) for each in gc.get_objects())
    return Counter(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith("rejoinder"))


async def test_what_is_held_does_not_grow_with_sessions_nobody_uses():
    """DU-5, SC-33: over all shards of a process, and freed at once: the collector need not find it."""
    full = MOST // 2 + 100
    async with town(Forgetful()) as people:
        await people.say("Is it?", range(full))
        with without_collector():
            before = ours()
            await people.say("Is it?", range(full, full + 200))
            grown = ours() - before
    assert grown.total() < 50, grown


async def test_an_agent_is_reminded_of_all_it_may_have_forgotten():
    """TU-33, DU-5: it remembers for all shards of a process together."""
    agent = Forgetful()
    async with town(agent) as people:
        everybody = range(MOST_REMEMBERED_SESSIONS + 100)
        await people.say("Is it?", everybody)
        await people.say("And again?", range(20))
    assert agent.lost == []


async def test_nothing_is_kept_of_a_shard_that_is_gone():
    """SC-4: all that was remembered of it dies with the lease, however often shards move."""
    async with town(Forgetful()) as people:
        await people.say("Is it?", range(20))
        engines = [ref(engine) for engine in people.engines]
        for shard in range(SHARDS):
            await people.engines.hand_over(shard, 0.0)
        await people.rest()
        gc.collect()
        assert [engine() for engine in engines] == [None] * SHARDS
