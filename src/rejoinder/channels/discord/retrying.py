"""Repeats a request until Discord answers: it waits out temporary failures, and a refusal is an answer."""

import asyncio
from collections.abc import Awaitable, Callable

from rejoinder.channels.base import Rejected, RetryAfter
from rejoinder.channels.discord.connection import Timings
from rejoinder.channels.discord.outcomes import Answer, Ok, Refused, failure
from rejoinder.channels.growing_pauses import pause_after
from rejoinder.channels.http_faults import unanswered


async def until_answered(pace: Timings, ask: Callable[[], Awaitable[Answer]], most: int | None = None) -> Ok | Rejected:
    """`most`: the number of attempts; None: as many as it takes."""
    tries = 0
    while True:
        answer = await ask()
        if isinstance(answer, Ok):
            return answer
        outcome = failure(answer)
        if isinstance(outcome, Rejected):
            return outcome
        tries += 1
        if most is not None and tries >= most:
            return Rejected(unanswered("Discord", outcome.reason, ours=not isinstance(answer, Refused) and answer.ours))
        wait = outcome.seconds if isinstance(outcome, RetryAfter) else None
        await asyncio.sleep(wait or pause_after(tries, pace.first_pause, pace.longest_pause))
