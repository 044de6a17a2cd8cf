"""The promises of a run, kept for every agent."""

import asyncio
from collections.abc import AsyncGenerator

from rejoinder.agents.base import AgentEvent, Done, Failed, Question, TextDelta
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.agents.guard import GuardedEvents
from tests.crash.virtual_time import VirtualTime


async def told(
    events: AsyncGenerator[AgentEvent, None], *, idle: float | None = None, hard: float | None = None
) -> list[AgentEvent]:
    return [event async for event in GuardedEvents(events, idle=idle, hard=hard)]


async def test_nothing_after_the_last_word():
    """TU-20: what an agent says after Done is not said."""

    async def talkative():
        yield TextDelta("a")
        yield Done()
        yield TextDelta("b")
        yield failed("other")

    assert await told(talkative()) == [TextDelta("a"), Done()]


async def test_an_agent_that_just_stops_has_crashed():
    async def forgetful():
        yield TextDelta("a")

    (_, last) = await told(forgetful())
    assert isinstance(last, Failed)
    assert last.kind == "crashed"


async def test_exceptions_become_failures():
    """TU-22: errors are events."""

    async def raising(problem: Exception):
        yield TextDelta("a")
        raise problem

    (_, last) = await told(raising(ValueError("boom")))
    assert isinstance(last, Failed)
    assert (last.kind, last.detail) == ("crashed", "ValueError: boom")
    assert (await told(raising(RunFailed(failed("auth", "no key")))))[-1] == failed("auth", "no key")
    (_, last) = await told(raising(TimeoutError("somebody else's")), idle=60)
    assert isinstance(last, Failed)
    assert last.kind == "timeout"
    assert "somebody else's" in last.detail


async def test_what_is_cancelled_within_has_failed():
    """TU-20: nobody has stopped the run, so somebody waits for a word about it."""

    async def waiting():
        yield TextDelta("a")
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    (_, last) = await told(waiting(), idle=60.0)
    assert isinstance(last, Failed)
    assert last.kind == "crashed"


async def test_silence_and_length_are_two_timeouts():
    """TU-20: idle and hard are separate, and say which of them it was."""

    async def silent():
        yield TextDelta("a")
        await asyncio.Event().wait()

    async def endless():
        while True:
            yield TextDelta("a")
            await asyncio.sleep(0)

    last = (await told(silent(), idle=0.01, hard=60))[-1]
    assert isinstance(last, Failed)
    assert "idle" in last.detail
    last = (await told(endless(), idle=60, hard=0.01))[-1]
    assert isinstance(last, Failed)
    assert "hard" in last.detail


def test_while_a_person_is_asked_silence_is_fine():
    """TU-33: the idle timeout rests until the question is answered; the hard one does not."""

    async def asking():
        yield Question("q", "May I?", ("yes", "no"))
        await asyncio.sleep(3600)
        yield Done()

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        assert runner.run(told(asking(), idle=60, hard=7200))[-1] == Done()
        assert isinstance(runner.run(told(asking(), idle=7200, hard=60))[-1], Failed)


async def endless(ended):
    """Says a word and waits; sets `ended` at its end."""
    try:
        yield TextDelta("a")
        await asyncio.Event().wait()
    finally:
        ended.set()


async def test_closing_reaches_the_agent():
    """TU-20: when the close returns, the agent's own end has run."""
    ended = asyncio.Event()
    run = GuardedEvents(endless(ended))
    await anext(run)
    await run.aclose()
    assert ended.is_set()


async def test_a_cancelled_run_has_ended_the_agent():
    """TU-20: also where nobody closes the iterator afterwards."""
    ended = asyncio.Event()
    run = asyncio.create_task(told(endless(ended)))
    await asyncio.sleep(0)
    run.cancel()
    await asyncio.wait([run])
    assert run.cancelled()
    assert ended.is_set()


async def test_the_agent_has_ended_when_its_last_word_is_told():
    """TU-20: the next run may begin at once."""
    ended: list[str] = []

    async def brief(name: str):
        try:
            yield Done()
        finally:
            ended.append(name)

    await anext(GuardedEvents(brief("closed")))
    await anext(GuardedEvents(brief("ends itself"), ends_itself=True))
    assert ended == ["closed", "ends itself"]
