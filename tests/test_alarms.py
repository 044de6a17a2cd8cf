"""Many deadlines on one timer."""

import asyncio
from collections.abc import Callable

import pytest

from rejoinder.alarms import Alarm, call_at, timeout


def set_alarms(*seconds: float) -> tuple[list[float], list[Alarm], asyncio.Event]:
    """Alarms after so many seconds; what has rung so far, and the event that the latest of them sets."""
    rung: list[float] = []
    last = asyncio.Event()
    now = asyncio.get_running_loop().time()

    def ring(after: float) -> Callable[[], None]:
        def rings() -> None:
            rung.append(after)
            if after == max(seconds):
                last.set()

        return rings

    return rung, [call_at(now + after, ring(after)) for after in seconds], last


async def test_they_ring_in_their_order():
    """Whichever was set first, the earlier rings first."""
    rung, _, last = set_alarms(0.02, 0.0, 0.01, 0.03)
    await last.wait()
    assert rung == [0.0, 0.01, 0.02, 0.03]


async def test_none_rings_before_its_time():
    now = asyncio.get_running_loop().time()
    _, _, last = set_alarms(0.01)
    await last.wait()
    assert asyncio.get_running_loop().time() - now >= 0.01


async def test_what_is_cancelled_does_not_ring():
    """Also when the one before it cancels it, in the same moment; and the others ring anyway."""
    rung, alarms, last = set_alarms(0.0, 0.01, 0.02)
    alarms[1].cancel()
    now = asyncio.get_running_loop().time()
    call_at(now - 1, lambda: alarms[0].cancel())
    await last.wait()
    assert rung == [0.02]


async def test_one_that_fails_takes_no_other_along():
    failures: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(str(context["exception"])))

    def fail() -> None:
        raise ValueError("boom")

    call_at(asyncio.get_running_loop().time(), fail)
    rung, _, last = set_alarms(0.0)
    await last.wait()
    assert (rung, failures) == ([0.0], ["boom"])


def test_each_loop_has_its_own():
    """An alarm of a loop that has ended does not keep one of the next from ringing."""

    async def leave_one() -> None:
        set_alarms(60.0)

    async def hear_one() -> list[float]:
        rung, _, last = set_alarms(0.0)
        await last.wait()
        return rung

    asyncio.run(leave_one())
    assert asyncio.run(hear_one()) == [0.0]


async def test_what_takes_too_long_is_given_up():
    with pytest.raises(TimeoutError), timeout(0.01):
        await asyncio.Event().wait()
    await asyncio.sleep(0)  # the task itself is not cancelled


async def test_what_ends_in_time_is_left_alone():
    with timeout(0.01):
        await asyncio.sleep(0)
    await asyncio.sleep(0.02)


async def test_its_own_error_is_told_even_if_it_comes_late():
    async def fail_when_cancelled() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("late") from None

    with pytest.raises(ValueError, match="late"), timeout(0.01):
        await fail_when_cancelled()
    await asyncio.sleep(0)


async def test_a_task_that_is_cancelled_meanwhile_ends():
    async def wait() -> None:
        with timeout(0.01):
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
