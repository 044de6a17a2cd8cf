"""SC-3, SC-4, SC-32: two gateways on one store, and four shards that move between them at any moment.

Everything is the real thing but the clock, which the test moves, and the platform, which notes when it was called.
Leases run out, renewals or their answers are lost, an agent or the platform does not answer for a while, and shards are
handed over. Two things keep the loser of a shard quiet, and each is proved alone:

the fence     a write under an older generation is refused: no row is changed by the loser
the deadline  asked right before each call: nobody calls the platform after their lease

With both switched off the same search finds what they prevent.
"""

import asyncio
import re
from collections import defaultdict
from contextlib import AsyncExitStack
from datetime import timedelta
from math import inf
from typing import Any, ClassVar, Literal
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from rejoinder.agents.base import Done, TextDelta
from rejoinder.app import Gateway, with_channel
from rejoinder.channels.base import Delivered, Limits, RetryAfter
from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime.tasks import Tasks
from rejoinder.session import shard_of
from rejoinder.store.sql import perform as carry_out
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.store_contract.given import NOW

SHARDS, CHATS, LEASE = 4, 6, 10.0
CONFIGURED = with_channel(
    Settings(messages=MessagesSettings(queue=QueueSection(mode="queue", debounce_ms=0))), "fake", "bot", ()
)
PROCESSES, CHAT, SHARD = st.integers(0, 1), st.integers(0, CHATS - 1), st.integers(0, SHARDS - 1)


class World:
    """The clock, the platform, and what stands in the way."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.agents_answer = asyncio.Event()
        self.platform_answers = asyncio.Event()
        self.agents_answer.set()
        self.platform_answers.set()
        self.said: dict[str, list[str]] = defaultdict(list)
        self.asked_in: dict[str, str] = {}
        self.session_home = ""
        self.there: dict[str, str] = {}
        self.foreign_calls: list[str] = []
        self.foreign_writes: list[str] = []
        self.count = 0
        self.store = open_store("sqlite::memory:", shards=SHARDS, lease_seconds=LEASE, clock=self.now)

    def now(self):
        return NOW + timedelta(seconds=self.seconds)

    def row(self, shard: int) -> tuple[Any, ...]:
        assert self.store._writer._db is not None
        sql = "SELECT holder, generation, lease_until FROM shard WHERE id = ?"
        return self.store._writer._db.execute(sql, (shard,)).fetchone()

    def called(self, who: str, chat: str, what: str, *, for_session: bool = False) -> None:
        """`for_session`: the owner of the session may do it, and only they."""
        shard = shard_of((for_session and self.session_home) or f"fake:default:{chat}", SHARDS)
        holder, _, until = self.row(shard)
        if holder != who or until <= self.now().timestamp() * 1_000_000:
            self.foreign_calls.append(f"{who}: {what} in shard {shard}, which is {holder}'s until {until}")

    def wrote(self, db: Any, verbs: Any, lease: Any) -> Any:
        done = carry_out.perform(db, verbs, lease)
        if lease is not None:
            sql = "SELECT generation FROM shard WHERE id = ?"
            (generation,) = db.execute(sql, (lease.shard,)).fetchone()
            if generation != lease.generation:
                self.foreign_writes.append(f"{lease}: {verbs}, generation {generation}")
        return done


class Platform:
    """Notes who calls; does not answer while it is stuck."""

    name = "fake"
    limits = Limits()

    def __init__(self, world: World) -> None:
        self.world = world
        self.holder = ""
        self.sent = 0

    async def listen(self, deliver) -> None:
        """The test delivers."""

    async def typing(self, route, author="") -> None:
        self.world.called(self.holder, route.chat, "typing", for_session=True)

    async def send(self, part):
        self.world.called(self.holder, part.route.chat, f"says {part.text!r}")
        self.sent += 1
        self._take(part)
        await self.world.platform_answers.wait()
        return Delivered(part.key)

    def _take(self, part) -> None:
        self.world.there[part.key] = part.text
        self.world.said[part.route.chat].append(part.text)


class DeduplicatesByKey(Platform):
    """Takes every key once."""

    deduplicates_by_key: Literal[True] = True

    def _take(self, part) -> None:
        if part.key not in self.world.there:
            super()._take(part)


class Finds(Platform):
    """Can be asked whether a part is there."""

    async def find(self, part, since):
        self.world.called(self.holder, part.route.chat, f"looks for {part.text!r}")
        return Delivered(part.key) if part.key in self.world.there else RetryAfter(0, limited=False)


class Echo:
    name = "bot"

    def __init__(self, world: World, holder: str) -> None:
        self.world = world
        self.holder = holder
        self.ended = self.asked = 0

    async def run(self, turn):
        number = re.findall(r"#\d+", str(turn))[-1]
        self.asked += 1
        self.world.called(self.holder, self.world.asked_in[number], "asks the agent", for_session=True)
        await self.world.agents_answer.wait()
        yield TextDelta(f"re {number}")
        yield Done()

    is_alive = True

    async def suspend(self) -> None:
        self.ended += 1


class Process:
    def __init__(self, world: World, name: str, platform: type[Platform], configured: Settings = CONFIGURED) -> None:
        self.world = world
        self.platform = platform(world)
        self.agent = Echo(world, name)
        self.gateway = Gateway(
            configured, agents={"bot": self.agent}, channels=[self.platform], store=world.store, clock=world.now
        )
        self.name = name

    async def open(self) -> None:
        await self.gateway.__aenter__()
        engines = self.gateway.engines
        assert hasattr(engines, "_boot"), "the deadlines follow the clock of the test"
        engines._boot = lambda: self.world.seconds
        engines.holder = self.platform.holder = self.name

    async def says(self, chat: int) -> None:
        self.world.count += 1
        number, who = self.world.count, f"chat-{chat}"
        self.world.asked_in[f"#{number}"] = who
        chat_of = Chat(who, kind="direct")
        await self.gateway.dispatch(Inbound("fake", f"e{number}", f"m{number}", chat_of, Sender(who), f"#{number}"))

    async def claim(self, shard: int) -> None:
        if (engine := await self.gateway.engines.claim(shard)) is not None:
            self.gateway.engines.start_recovery(engine)

    async def renew(self, *, is_told: bool) -> None:
        engines = self.gateway.engines
        sent, asked = self.world.seconds, engines.leases
        renewal = await self.world.store.renew(self.name, asked)
        if is_told:
            engines.renewed(sent, asked, renewal)

    async def look(self) -> None:
        self.gateway.engines.look_at_deadlines()
        self.gateway.engines.changed()


class Trespass(AssertionError):
    """Somebody acted for a shard that was another's."""


def refuse(found: list[str]) -> None:
    if found:
        raise Trespass(found[0])


async def ripple(count: int = 50) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def is_over(world: World) -> bool:
    census = await world.store.count_rows()
    return not census.runs and "new" not in census.events and not {"planned", "sending", "unknown"} & {*census.parts}


class MovingShards(RuleBasedStateMachine):
    has_fence: ClassVar[bool] = True
    has_deadline: ClassVar[bool] = True
    configured: ClassVar[Settings] = CONFIGURED
    session_home: ClassVar[str] = ""
    """Where all chats have their session, if not each in its own home."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.processes: list[Process] = []
        self.handing: list[asyncio.Task[None]] = []
        self.world = self._do(self._make())

    def _do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    async def _make(self) -> World:
        world = World()
        world.session_home = self.session_home
        self.stack.enter_context(patch("rejoinder.store.sqlite.writer.perform", world.wrote))
        if not self.has_fence:
            self.stack.enter_context(patch("rejoinder.store.sql.leases.held", lambda _, lease: lease.shard))
        if not self.has_deadline:
            self.stack.enter_context(patch("rejoinder.runtime.gateway.deadline_of", lambda *_: inf))
        return world

    @initialize(finds=st.booleans())
    def open(self, finds: bool) -> None:
        # Without the deadline a late call may come; a platform that takes a key once makes it harmless.
        self._do(self._open(Finds if finds and self.has_deadline else DeduplicatesByKey))

    async def _open(self, platform: type[Platform]) -> None:
        for name in ("one", "two"):
            process = Process(self.world, name, platform, self.configured)
            await process.open()
            self.stack.push_async_exit(process.gateway.__aexit__)
            self.processes.append(process)

    @rule(who=PROCESSES, chat=CHAT)
    def somebody_writes(self, who: int, chat: int) -> None:
        self._do(self.processes[who].says(chat))

    @rule(who=PROCESSES, shard=SHARD)
    def claim(self, who: int, shard: int) -> None:
        self._do(self.processes[who].claim(shard))

    @rule(who=PROCESSES, shard=SHARD)
    def a_lease_runs_out_and_the_other_claims(self, who: int, shard: int) -> None:
        self.world.seconds += LEASE + 1
        self._do(self.processes[who].claim(shard))

    @rule(who=PROCESSES)
    def renew(self, who: int) -> None:
        self._do(self.processes[who].renew(is_told=True))

    @rule(who=PROCESSES)
    def the_answer_to_a_renewal_is_lost(self, who: int) -> None:
        self._do(self.processes[who].renew(is_told=False))

    @rule(seconds=st.integers(1, 11))
    def time_passes(self, seconds: int) -> None:
        self.world.seconds += seconds

    @rule(who=PROCESSES)
    def look(self, who: int) -> None:
        self._do(self.processes[who].look())

    @rule(who=PROCESSES, shard=SHARD)
    def hand_over(self, who: int, shard: int) -> None:
        work = self.processes[who].gateway.engines.hand_over(shard, 0.0)
        self.handing.append(self.loop.create_task(work))

    @rule(answer=st.booleans())
    def agents_pause(self, answer: bool) -> None:
        (self.world.agents_answer.set if answer else self.world.agents_answer.clear)()

    @rule(answers=st.booleans())
    def the_platform_pauses(self, answers: bool) -> None:
        (self.world.platform_answers.set if answers else self.world.platform_answers.clear)()

    @rule(count=st.integers(1, 40))
    def the_loops_turn(self, count: int) -> None:
        self._do(ripple(count))

    @invariant()
    def nobody_calls_for_a_shard_of_another(self) -> None:
        if self.has_deadline or not self.has_fence:
            refuse(self.world.foreign_calls)

    @invariant()
    def nobody_writes_for_a_shard_of_another(self) -> None:
        if self.has_fence or not self.has_deadline:
            refuse(self.world.foreign_writes)

    def teardown(self) -> None:
        try:
            if self.has_fence and self.processes:
                self._do(self._end())
                self._examine()
        finally:
            try:
                self._do(self.stack.aclose())
            finally:
                self.loop.close()

    async def _end(self) -> None:
        """Nothing stands in the way any more, and each shard has an owner."""
        world = self.world
        world.agents_answer.set()
        world.platform_answers.set()
        await asyncio.gather(*self.handing)
        world.seconds += 2 * LEASE
        for process in self.processes:
            await process.look()
        for shard in range(SHARDS):
            await self.processes[shard % 2].claim(shard)
        async with asyncio.timeout(PATIENCE):
            while sum(map(len, world.said.values())) < world.count or not await is_over(world):
                await ripple()
                for process in self.processes:
                    process.gateway.engines.changed()

    def _examine(self) -> None:
        self.nobody_calls_for_a_shard_of_another()
        self.nobody_writes_for_a_shard_of_another()
        for chat, said in self.world.said.items():
            numbers = [int(number) for text in said for number in re.findall(r"^re #(\d+)$", text)]
            assert numbers == sorted(numbers), (chat, said)
            assert len(set(said)) == len(said), (chat, said)
        assert sum(map(len, self.world.said.values())) == self.world.count


class WithoutDeadline(MovingShards):
    has_deadline = False


class WithoutFence(MovingShards):
    has_fence = False


class WithoutBoth(MovingShards):
    has_fence = has_deadline = False


def search(machine: type[MovingShards], examples: int, **how: Any) -> None:
    quiet = (HealthCheck.too_slow, HealthCheck.filter_too_much)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=40, deadline=None, suppress_health_check=quiet, **how
        ),
    )


def test_each_message_gets_one_answer_whoever_owns_it() -> None:
    """SC-3, SC-4, SC-32: one answer each, in order, and nothing from a process that has lost the shard."""
    search(MovingShards, 30)


def test_the_fence_holds_without_the_deadline() -> None:
    """SC-3: a process that does not know that its time is over changes no row; each message still gets one answer."""
    search(WithoutDeadline, 20)


def test_the_deadline_holds_without_the_fence() -> None:
    """SC-3: a process whose time is over calls no platform, even if the store would let it."""
    search(WithoutFence, 20)


def takes_over(machine: MovingShards) -> None:
    """The one has given its agent a message when its lease runs out; the other takes the shard; the agent answers, and
    the one is told of another message."""
    shard = shard_of("fake:default:chat-0", SHARDS)
    machine.open(finds=False)
    machine.agents_pause(answer=False)
    machine.claim(who=0, shard=shard)
    machine.the_loops_turn(count=40)
    machine.somebody_writes(who=0, chat=0)
    machine.the_loops_turn(count=40)
    machine.a_lease_runs_out_and_the_other_claims(who=1, shard=shard)
    machine.agents_pause(answer=True)
    machine.the_loops_turn(count=40)
    machine.somebody_writes(who=0, chat=0)
    machine.the_loops_turn(count=200)


def test_without_both_the_loser_goes_on() -> None:
    """A test of the tests above: with neither fence nor deadline they fail."""
    machine = WithoutBoth()
    try:
        takes_over(machine)
        with pytest.raises(Trespass):
            machine.nobody_writes_for_a_shard_of_another()
        with pytest.raises(Trespass):
            machine.nobody_calls_for_a_shard_of_another()
    finally:
        machine.teardown()


@pytest.mark.deep
def test_the_search_finds_what_both_prevent() -> None:
    """The same, found by the search itself."""
    with pytest.raises(Trespass):
        search(WithoutBoth, 200, derandomize=True, database=None, phases=(Phase.generate,), report_multiple_bugs=False)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["one shard", "another shard too"])
def test_an_agents_process_ends_with_the_lease(elsewhere: bool) -> None:
    """SC-3: at the deadline the process of an agent that worked for the shard is ended, unless it works for another."""
    machine = MovingShards()
    chats = {shard_of(f"fake:default:chat-{chat}", SHARDS): chat for chat in range(CHATS)}
    (first, chat), (second, other), *_ = chats.items()
    try:
        machine.open(finds=False)
        machine.agents_pause(answer=False)
        for shard, said in ((first, chat), (second, other)):
            machine.claim(who=0, shard=shard)
            machine.the_loops_turn(count=40)
            if shard == first or elsewhere:
                machine.somebody_writes(who=0, chat=said)
            machine.the_loops_turn(count=40)
            machine.time_passes(seconds=5)
        machine.look(who=0)  # the deadline of the first is over, that of the second is not
        machine.the_loops_turn(count=40)
        assert machine.processes[0].agent.ended == (0 if elsewhere else 1)
    finally:
        machine.teardown()


async def outlives_a_cancellation() -> None:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await asyncio.Event().wait()  # for a task that is gone as well


def test_nothing_of_a_lost_shard_keeps_the_process_from_ending() -> None:
    """SC-4: a task that goes on waiting after it was cancelled is cancelled again."""
    machine = MovingShards()
    try:
        machine.open(finds=False)
        machine.claim(who=0, shard=0)
        machine.the_loops_turn(count=40)
        gateway = machine.processes[0].gateway
        engine = gateway.engines.of(0)
        assert engine is not None
        engine.tasks._patience = 0.01
        machine._do(_start(engine.tasks))
        machine.time_passes(seconds=11)
        machine.look(who=0)
        machine._do(asyncio.wait_for(engine.tasks.idle(), PATIENCE))
    finally:
        machine.teardown()


async def _start(tasks: Tasks) -> None:
    tasks.start("outlives", outlives_a_cancellation())
    await ripple()
