"""A function as an agent, in a process of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from rejoinder.agents.base import Done, Failed, HasProcess, RunLimits
from rejoinder.agents.python import Settings, open_agent, process
from rejoinder.agents.python.process import IsolatedAgent
from rejoinder.errors import BadConfiguration
from rejoinder.testing import conversation
from rejoinder.testing.agent_contract import AgentContract, Agents, a_turn, begun, everything, text_of

HERE = str(Path(__file__).parent)


def isolated(function: str, **more) -> IsolatedAgent:
    settings = Settings(call=f"isolated_functions:{function}", path=HERE, isolate=True)
    agent = open_agent("mine", replace(settings, **more))
    assert isinstance(agent, IsolatedAgent)
    return agent


@asynccontextmanager
async def asked(function: str, **more) -> AsyncIterator[IsolatedAgent]:
    agent = isolated(function, **more)
    try:
        yield agent
    finally:
        await agent.close()
        assert not agent.is_alive


class TestContract(AgentContract):
    slow_call = "slow"
    patience = 60.0

    @asynccontextmanager
    async def agents(self) -> AsyncIterator[Agents]:
        four = [isolated(name) for name in ("talking", "raising", self.slow_call, "using_tools")]
        try:
            yield Agents(*four)
        finally:
            for agent in four:
                await agent.close()


class TestContractInAThread(TestContract):
    slow_call = "slow_in_a_thread"


async def test_it_streams_and_keeps_what_its_module_keeps():
    """TU-32: one process for all turns and sessions; what is printed is not part of an answer."""
    async with asked("streaming") as agent:
        events = await everything(agent, a_turn("one two three"))
        assert [event.text for event in events[:-1]] == ["one ", "two ", "three "]
    async with asked("counting") as agent:
        said = [text_of(await everything(agent, a_turn(session=f"session-{number}"))) for number in range(3)]
        assert said == ["1", "2", "3"]
        assert isinstance(agent, HasProcess)
        assert await agent.check() == "its function was found; it runs in a process of its own"


async def test_long_and_broken_text_arrives_as_it_was_said():
    """OD-5: a huge string comes in pieces; half a character waits for its other half."""
    async with asked("huge") as agent:
        events = await everything(agent)
        assert text_of(events) == "x" * 20_000_000
        assert max(len(event.text) for event in events[:-1]) <= 65_536
    async with asked("halves") as agent, conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("😀")


@pytest.mark.parametrize(
    ("function", "detail"),
    [
        ("raising", "LookupError: no such thing at "),
        ("interrupting", "KeyboardInterrupt"),
        ("exiting", "SystemExit: 3"),
        ("leaving", "it exited with status 3; its last output: good bye"),
        ("segfaulting", "it was killed by SIGSEGV"),
        ("tasks_that_exit", "it exited with status 3"),
    ],
)
async def test_whatever_it_does_the_gateway_goes_on(function: str, detail: str):
    """TU-20: the person is told, and the next turn is answered by a new process where it has to be."""
    async with asked(function) as agent:
        for _ in range(2):
            last = (await everything(agent))[-1]
            assert isinstance(last, Failed)
            assert last.kind == "crashed"
            assert detail in last.detail


async def test_a_busy_one_is_killed_at_its_time_out(monkeypatch: pytest.MonkeyPatch):
    """TU-20: it cannot even hear that it is over. The next turn gets a new process; the loop here was never stopped."""
    monkeypatch.setattr(process, "HEARD_SECONDS", 0.2)
    async with asked("busy") as agent:
        await everything(agent, a_turn("calm"))  # the time to start a process is none of its own
        agent.take_limits(RunLimits(idle=1.0))
        *_, last = await everything(agent)
        assert isinstance(last, Failed)
        assert last.kind == "timeout"
        agent.take_limits(RunLimits())
        events = await everything(agent, a_turn("calm"))
        assert (text_of(events), events[-1]) == ("Let me see.", Done())


async def test_who_shares_a_process_with_a_busy_one_is_told(monkeypatch: pytest.MonkeyPatch):
    """TU-20: its run cannot go on either."""
    monkeypatch.setattr(process, "HEARD_SECONDS", 0.2)
    async with asked("busy") as agent:
        other = asyncio.create_task(everything(agent, a_turn("calm too", session="session-2")))
        async with begun(agent, a_turn()):
            pass
        last = (await other)[-1]
        assert isinstance(last, Failed)
        assert "too busy to notice" in last.detail


async def test_a_thread_that_goes_on_ends_with_its_process():
    """TU-20: a cancelled thread cannot be ended alone, so the process is, once nobody else needs it."""
    async with asked("slow_in_a_thread") as agent:
        async with begun(agent, a_turn(session="session-2")):
            async with begun(agent, a_turn()):
                worker = agent._worker
                assert worker is not None
            async with asyncio.timeout(30):
                await worker.stuck.wait()
            assert worker.dead is None, "another run still needs it"
        assert worker.dead == "a run that was cancelled did not end"
        async with begun(agent, a_turn()):
            assert agent._worker is not worker


async def test_a_process_is_kept_while_its_runs_are_cancelled_in_good_order():
    """TU-20: what the module keeps is not lost with a /stop."""
    async with asked("slow") as agent:
        async with begun(agent, a_turn()):
            worker = agent._worker
        async with begun(agent, a_turn()):
            assert agent._worker is worker


async def test_it_can_be_steered():
    """As any function with `further` can."""
    async with asked("steered") as agent, begun(agent, a_turn()) as run:
        assert await agent.steer(a_turn("and this")) is True
        assert text_of([event async for event in run]) == "And 1 more."
        assert await agent.steer(a_turn("too late")) is False


async def test_it_sees_no_variable_that_it_is_not_given(monkeypatch: pytest.MonkeyPatch):
    """Who is not trusted gets no keys."""
    monkeypatch.setenv("ISOLATED_KEY", "secret")
    monkeypatch.setenv("ISOLATED_NAME", "harmless")
    async with asked("environment", pass_env=("ISOLATED_NAME",)) as agent:
        assert text_of(await everything(agent)) == "ISOLATED_NAME"


async def test_a_function_that_is_not_there():
    """A module that is not there is told at the start; all else when it is first needed, or by `rejoinder doctor`."""
    with pytest.raises(BadConfiguration, match="there is no module 'nowhere' for `call`"):
        open_agent("mine", Settings(call="nowhere:answer", isolate=True))
    for function, detail in (("absent", "no function 'absent'"), ("wrong", "cannot be given a turn")):
        async with asked(function) as agent:
            last = (await everything(agent))[-1]
            assert isinstance(last, Failed)
            assert detail in last.detail


def test_where_it_runs_things_is_chosen_only_if_it_says_so():
    """IN-59: `takes_exec` promises that the function obeys."""
    settings = Settings(call="isolated_functions:talking", path=HERE)
    for isolate in (False, True):
        for takes, names in ((False, ()), (True, ("host", "node"))):
            agent = open_agent("mine", replace(settings, isolate=isolate, takes_exec=takes))
            assert agent.takes_exec == names
