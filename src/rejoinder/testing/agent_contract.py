"""The promises that every agent keeps, as tests to inherit:

    class TestMyAgent(AgentContract):
        @asynccontextmanager
        async def agents(self):
            yield Agents(talking=MyAgent(...), broken=MyAgent(...), slow=MyAgent(...))

The tests are coroutines: pytest-asyncio with `asyncio_mode = "auto"` runs them.
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import cast

from msgspec import Struct

from rejoinder.agents.base import (
    Agent,
    AgentEvent,
    CanClose,
    Done,
    Failed,
    TextDelta,
    ToolEnded,
    ToolStarted,
)
from rejoinder.events import PromptText, Turn
from rejoinder.testing.patience import PATIENCE


class Agents(Struct, frozen=True):
    """One kind of agent, behaving in four ways. `using_tools` is None if the kind has no tools to show."""

    talking: Agent
    """Answers with some text."""
    broken: Agent
    """Cannot answer: its server is down, its program fails, its function raises."""
    slow: Agent
    """Says something and then takes very long."""
    using_tools: Agent | None = None
    """Uses a tool on its way to an answer."""


def a_turn(text: str = "Hello", session: str = "session-1") -> Turn:
    return Turn(session, (PromptText(text),))


async def everything(agent: Agent, turn: Turn | None = None) -> list[AgentEvent]:
    """A run from its first event to its last."""
    return [event async for event in agent.run(turn or a_turn())]


def text_of(events: list[AgentEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@asynccontextmanager
async def begun(agent: Agent, turn: Turn) -> AsyncGenerator[AsyncIterator[AgentEvent]]:
    """A run that has said its first words; at the end of the block it is closed, which cancels it."""
    async with aclosing(cast(AsyncGenerator[AgentEvent, None], agent.run(turn))) as run:
        async for event in run:
            if isinstance(event, TextDelta):
                break
            assert not isinstance(event, Done | Failed), event
        yield run


class AgentContract:
    """Inherit it in a test class; `agents` provides the agents to test, and closes them afterwards."""

    patience: float = PATIENCE
    """Seconds: anything that takes longer is stuck, not slow."""

    @abstractmethod
    def agents(self) -> AbstractAsyncContextManager[Agents]: ...

    async def test_a_run_ends_with_exactly_one_last_word(self) -> None:
        """TU-20: Done or Failed comes exactly once, and nothing comes after it."""
        async with asyncio.timeout(self.patience), self.agents() as agents:
            for agent in (agents.talking, agents.broken):
                events = await everything(agent)
                assert [type(event) for event in events if isinstance(event, Done | Failed)] == [type(events[-1])]

    async def test_an_answer_is_text_and_done(self) -> None:
        """TU-32: a turn goes in, the text of the answer comes out."""
        async with asyncio.timeout(self.patience), self.agents() as agents:
            events = await everything(agents.talking)
            assert isinstance(events[-1], Done), events
            assert text_of(events).strip()

    async def test_a_failure_is_an_event_with_a_sentence(self) -> None:
        """TU-22: a failure raises nothing; the person gets a sentence, the operator a detail."""
        async with asyncio.timeout(self.patience), self.agents() as agents:
            last = (await everything(agents.broken))[-1]
            assert isinstance(last, Failed)
            assert last.sentence.endswith(".")
            assert "\n" not in last.sentence
            assert "Traceback" not in last.sentence
            assert last.detail

    async def test_after_a_failure_the_agent_can_be_asked_again(self) -> None:
        """A failed run leaves nothing behind that stops the next one."""
        async with asyncio.timeout(self.patience), self.agents() as agents:
            for _ in range(2):
                assert isinstance((await everything(agents.broken))[-1], Failed)

    async def test_closing_the_iterator_cancels(self) -> None:
        """TU-20: a caller that closes a run gets no more of it and can start the next one."""
        async with asyncio.timeout(self.patience), self.agents() as agents:
            async with begun(agents.slow, a_turn()) as run:
                pass
            assert [event async for event in run] == []

    async def test_cancelling_the_task_cancels_the_run(self) -> None:
        """TU-20: a run ends with the task that reads it."""
        async with asyncio.timeout(self.patience), self.agents() as agents:
            spoke = asyncio.Event()

            async def read() -> None:
                async for event in agents.slow.run(a_turn()):
                    if isinstance(event, TextDelta):
                        spoke.set()

            task = asyncio.create_task(read())
            await spoke.wait()
            task.cancel()
            assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)

    async def test_sessions_run_side_by_side(self) -> None:
        """Two sessions of one agent do not mix and do not wait for each other."""
        async with asyncio.timeout(self.patience), self.agents() as agents:
            second, third = a_turn(session="session-2"), a_turn(session="session-3")
            async with begun(agents.slow, second):
                assert isinstance((await everything(agents.talking, third))[-1], Done)

    async def test_tools_are_told_from_beginning_to_end(self) -> None:
        """Each tool that started ended, under the same id, before the last word."""
        async with asyncio.timeout(self.patience), self.agents() as agents:
            if agents.using_tools is None:
                return
            events = await everything(agents.using_tools)
            started = [event.id for event in events if isinstance(event, ToolStarted)]
            assert started
            assert sorted(started) == sorted(event.id for event in events if isinstance(event, ToolEnded))

    async def test_nothing_is_left_running(self) -> None:
        """After `close` no task of the agent is alive, not even after a run that was cancelled."""
        before = asyncio.all_tasks()
        async with asyncio.timeout(self.patience), self.agents() as agents:
            await everything(agents.talking)
            async with begun(agents.slow, a_turn()):
                pass
            for agent in (agents.talking, agents.slow, agents.broken):
                if isinstance(agent, CanClose):
                    await agent.close()
            own = {task for task in asyncio.all_tasks() - before if _of_an_agent(task)}
            assert not own, own


def _of_an_agent(task: "asyncio.Task[object]") -> bool:
    """Leaves out the tasks of fake servers that a test runs beside the agent."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "/rejoinder/agents/" in code.co_filename.replace("\\", "/")
