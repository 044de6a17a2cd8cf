"""Room for runs and for processes, given out."""

from collections.abc import AsyncIterator

from rejoinder.agents.base import AgentEvent, Done
from rejoinder.events import Turn
from rejoinder.runtime.lanes.slots import Slots
from rejoinder.runtime.runs import Runs
from rejoinder.turns.choose import Limits


class Program:
    """An agent with a process of its own."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.is_alive = False
        self._log = log

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        yield Done()

    async def rest(self) -> None:
        self.is_alive = False
        self._log.append(f"{self.name} rests")


class Talker:
    """An agent without one."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        yield Done()


class Machine:
    def __init__(self, runs: Runs, limits: Limits) -> None:
        self.log: list[str] = []
        self.programs = {name: Program(name, self.log) for name in ("p", "q", "r")}
        self.slots = Slots(limits, runs, {**self.programs, "talker": Talker("talker")})

    def ask(self, session: str, agent: str) -> None:
        def go() -> None:
            self.log.append(session)
            if agent in self.programs:
                self.programs[agent].is_alive = True

        self.slots.ask(session, agent, go)


async def test_a_process_is_counted_once_however_many_sessions_it_has():
    """TU-21."""
    async with Runs() as runs:
        machine = Machine(runs, Limits(processes=1))
        for session in ("one", "two"):
            machine.ask(session, "p")
        machine.ask("three", "q")
        machine.ask("four", "talker")
        assert machine.log == ["one", "two", "four"]


async def test_a_process_that_rests_gives_way_before_the_next_is_started():
    """TU-21: the limit holds at every moment."""
    async with Runs() as runs:
        machine = Machine(runs, Limits(processes=2))
        machine.ask("one", "p")
        machine.ask("two", "q")
        machine.ask("three", "r")
        machine.slots.release("two")
        await runs.idle()
        assert machine.log == ["one", "two", "q rests", "three"]


async def test_one_that_is_dead_already_makes_room_by_itself():
    async with Runs() as runs:
        machine = Machine(runs, Limits(processes=1))
        machine.ask("one", "p")
        machine.programs["p"].is_alive = False
        machine.slots.release("one")
        machine.ask("two", "q")
        assert machine.log == ["one", "two"]


async def test_who_was_stopped_while_room_was_made_does_not_start():
    """TU-20: nothing runs that nobody waits for."""
    async with Runs() as runs:
        machine = Machine(runs, Limits(processes=1))
        machine.ask("one", "p")
        machine.slots.release("one")
        machine.ask("two", "q")
        machine.slots.release("two")
        await runs.idle()
        assert machine.log == ["one", "p rests"]


async def test_sessions_take_turns():
    """TU-21: fair; who asks again stands behind those who have not had a run."""
    async with Runs() as runs:
        machine = Machine(runs, Limits(runs=1))
        for session in ("a", "b", "c"):
            machine.ask(session, "talker")
        for session in ("a", "b", "c", "a"):
            machine.slots.release(session)
            machine.ask(session, "talker")
        assert machine.log == ["a", "b", "c", "a", "b"]
