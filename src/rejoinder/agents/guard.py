"""Keeps the promises of the contract for every agent kind, so that each says only what is its own.

Rule 1: a run ends with exactly one Done or Failed, whatever the agent does.
Rule 2: an error never leaves a run as an exception; it is a Failed with a sentence.
Rule 3: silence longer than `idle` and a run longer than `hard` end it; while a person is asked, silence
is fine.
Rule 4: whoever closes the iterator has closed the agent's own iterator too when the call returns.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from rejoinder.agents.base import AgentEvent, Done, Failed, Question
from rejoinder.agents.failures import RunFailed, failed


async def guarded(
    events: AsyncGenerator[AgentEvent, None], *, idle: float | None = None, hard: float | None = None
) -> AsyncIterator[AgentEvent]:
    loop = asyncio.get_running_loop()
    end = None if hard is None else loop.time() + hard
    asking = False
    try:
        while True:
            quiet = None if idle is None or asking else loop.time() + idle
            at = end if quiet is None else quiet if end is None or quiet < end else end
            try:
                async with asyncio.timeout_at(at):
                    event = await anext(events)
            except StopAsyncIteration:
                event = failed("crashed", "the agent ended without saying that it is done")
            except RunFailed as problem:
                event = problem.failure
            except TimeoutError as problem:
                if at is None or loop.time() < at:
                    event = failed("timeout", f"inside the agent: {problem!r}")
                elif at == end:
                    event = failed("timeout", f"the run took longer than {hard:g} s (its hard timeout)")
                else:
                    event = failed("timeout", f"nothing came for {idle:g} s (the idle timeout)")
            except Exception as problem:  # noqa: BLE001 - Rule 2: whatever it is, a person waits for a sentence
                event = failed("crashed", f"{type(problem).__name__}: {problem}")
            asking = isinstance(event, Question)
            if isinstance(event, Done | Failed):
                # Closed before the last word is said: who has heard it may start the next run at once.
                await events.aclose()
                yield event
                return
            yield event
    finally:
        await events.aclose()
