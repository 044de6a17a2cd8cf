"""Room for runs and for processes, given out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rejoinder.agents.base import AgentEvent, Done
from rejoinder.events import Turn
from rejoinder.runtime.live import Live
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.slot_pool import SlotPool
from rejoinder.runtime.tasks import Tasks
from rejoinder.turns.choose import SlotLimits
from rejoinder.turns.suspicion import HEAD_START, STABLE_AFTER, RerunPolicy
from tests.crash.virtual_time import VirtualTime


class Program:
    """An agent with a process of its own."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.is_alive = False
        self._log = log

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        yield Done()

    async def suspend(self) -> None:
        self.is_alive = False
        self._log.append(f"{self.name} rests")


class Talker:
    """An agent without one."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        yield Done()


class Machine:
    def __init__(self, tasks: Tasks, limits: SlotLimits, pool: SlotPool | None = None) -> None:
        self.log: list[str] = []
        self.programs = {name: Program(name, self.log) for name in ("p", "q", "r")}
        agents = {**self.programs, "talker": Talker("talker")}
        self.pool = pool or SlotPool()
        settings = Live(SimpleNamespace(limits=limits))
        services: Any = SimpleNamespace(agents=agents, tasks=tasks, settings=settings, slots=self.pool)
        self.slots = Slots(services)

    def ask(self, session: str, agent: str) -> None:
        def go() -> None:
            self.log.append(session)
            if agent in self.programs:
                self.programs[agent].is_alive = True

        self.slots.ask(session, agent, go)


async def test_a_session_may_want_runs_in_two_engines():
    """SC-1, TU-21: it has chats in both; neither run takes or frees the slot of the other."""
    async with Tasks() as tasks:
        pool = SlotPool()
        busy, one, other = (Machine(tasks, SlotLimits(runs=1), pool) for _ in range(3))
        busy.ask("another", "talker")
        one.ask("shared", "talker")
        other.ask("shared", "talker")
        busy.slots.release("another")
        assert (one.log, other.log) == (["shared"], [])
        other.ask("later", "talker")
        one.slots.release("shared")
        assert (one.log, other.log) == (["shared"], ["shared"])
        other.slots.release("shared")
        assert other.log == ["shared", "later"]


async def test_a_process_is_counted_once_however_many_sessions_it_has():
    """TU-21."""
    async with Tasks() as tasks:
        machine = Machine(tasks, SlotLimits(processes=1))
        for session in ("one", "two"):
            machine.ask(session, "p")
        machine.ask("three", "q")
        machine.ask("four", "talker")
        assert machine.log == ["one", "two", "four"]


async def test_a_process_that_rests_gives_way_before_the_next_is_started():
    """TU-21: the limit holds at every moment."""
    async with Tasks() as tasks:
        machine = Machine(tasks, SlotLimits(processes=2))
        machine.ask("one", "p")
        machine.ask("two", "q")
        machine.ask("three", "r")
        machine.slots.release("two")
        await tasks.idle()
        assert machine.log == ["one", "two", "q rests", "three"]


async def test_one_that_is_dead_already_makes_room_by_itself():
    async with Tasks() as tasks:
        machine = Machine(tasks, SlotLimits(processes=1))
        machine.ask("one", "p")
        machine.programs["p"].is_alive = False
        machine.slots.release("one")
        machine.ask("two", "q")
        assert machine.log == ["one", "two"]


async def test_who_was_stopped_while_room_was_made_does_not_start():
    """TU-20: nothing runs that nobody waits for."""
    async with Tasks() as tasks:
        machine = Machine(tasks, SlotLimits(processes=1))
        machine.ask("one", "p")
        machine.slots.release("one")
        machine.ask("two", "q")
        machine.slots.release("two")
        await tasks.idle()
        assert machine.log == ["one", "p rests"]


async def test_sessions_take_turns():
    """TU-21: fair; who asks again stands behind those who have not had a run."""
    async with Tasks() as tasks:
        machine = Machine(tasks, SlotLimits(runs=1))
        for session in ("a", "b", "c"):
            machine.ask(session, "talker")
        for session in ("a", "b", "c", "a"):
            machine.slots.release(session)
            machine.ask(session, "talker")
        assert machine.log == ["a", "b", "c", "a", "b"]


class Suspects(Machine):
    def resume(self, session: str, again: RerunPolicy) -> None:
        self.slots.ask(session, "talker", lambda: self.log.append(session), again)


def in_virtual_time(main: Callable[[Suspects], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Tasks() as tasks:
            await main(Suspects(tasks, SlotLimits()))

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(run())


def test_what_died_alone_twice_runs_alone_when_the_process_is_stable():
    """DU-2: others are served before; then they wait until it has had its time alone, in the order in which they
    asked."""

    async def main(machine: Suspects) -> None:
        machine.resume("held back", RerunPolicy.WHEN_STABLE)
        machine.resume("suspect", RerunPolicy.IN_LINE)
        machine.ask("one", "talker")
        await asyncio.sleep(STABLE_AFTER - 1)
        assert machine.log == ["suspect", "one"]
        machine.slots.release("suspect")
        await asyncio.sleep(2)
        machine.ask("two", "talker")
        assert machine.log == ["suspect", "one"]
        machine.slots.release("one")
        assert machine.log == ["suspect", "one", "held back"]
        await asyncio.sleep(HEAD_START / 2)
        assert machine.log == ["suspect", "one", "held back"]
        machine.slots.release("held back")
        assert machine.log == ["suspect", "one", "held back", "two"]
        machine.ask("three", "talker")
        assert machine.log[-1] == "three"

    in_virtual_time(main)


@pytest.mark.parametrize("alone", [True, False])
def test_nobody_waits_for_it_for_long(alone: bool):
    """DU-2, TU-21: nor does it wait for ever for those that run on."""

    async def main(machine: Suspects) -> None:
        machine.resume("held back", RerunPolicy.WHEN_STABLE)
        if not alone:
            machine.ask("one", "talker")
        await asyncio.sleep(STABLE_AFTER + 1)
        machine.ask("two", "talker")
        assert "two" not in machine.log
        await asyncio.sleep(HEAD_START)
        assert {*machine.log} - {"one"} == {"held back", "two"}

    in_virtual_time(main)


def test_several_run_one_after_the_other():
    """DU-2: two at once would not be alone; and one that was stopped holds up nobody."""

    async def main(machine: Suspects) -> None:
        for session in ("a", "b", "c"):
            machine.resume(session, RerunPolicy.WHEN_STABLE)
        machine.slots.release("b")
        await asyncio.sleep(STABLE_AFTER + 1)
        assert machine.log == ["a"]
        machine.slots.release("a")
        assert machine.log == ["a", "c"]

    in_virtual_time(main)


async def test_the_engines_of_a_process_share_its_slots():
    """TU-21, SC-13: in the order of the requests, whichever shard they belong to; one that ends frees what it had."""
    async with Tasks() as tasks:
        one = Machine(tasks, SlotLimits(runs=2))
        two = Machine(tasks, SlotLimits(runs=2), one.pool)
        for machine, session in ((one, "a"), (two, "b"), (two, "c"), (one, "d"), (two, "e")):
            machine.ask(session, "talker")
        assert (one.log, two.log) == (["a"], ["b"])
        one.slots.release("a")
        assert (one.log, two.log) == (["a"], ["b", "c"])
        two.slots.close()
        assert (one.log, two.log) == (["a", "d"], ["b", "c"])
        one.ask("f", "talker")
        assert one.log == ["a", "d", "f"]


async def test_one_engine_waits_for_its_recovery_and_others_go_on():
    """DU-13: what a shard left comes first in that shard."""
    async with Tasks() as tasks:
        one = Machine(tasks, SlotLimits(runs=2))
        two = Machine(tasks, SlotLimits(runs=2), one.pool)
        one.slots.pause()
        one.ask("a", "talker")
        two.ask("b", "talker")
        assert (one.log, two.log) == ([], ["b"])
        one.slots.resume()
        assert one.log == ["a"]
