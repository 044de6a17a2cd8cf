"""Many deadlines on one timer."""

import asyncio
from collections.abc import Callable

from rejoinder.alarms import Alarm, call_at


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
