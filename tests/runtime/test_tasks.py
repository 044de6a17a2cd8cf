"""Every task has an owner; nothing runs on behind its back."""

import asyncio
import logging
from contextlib import suppress

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing.patience import PATIENCE


async def test_leaving_ends_everything_also_what_is_started_meanwhile():
    ended = []

    async def forever(name):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async with Tasks() as tasks:

        async def starts_another_when_it_ends():
            try:
                await forever("first")
            finally:
                second = tasks.start("second", forever("second"))
                await asyncio.sleep(0)
                assert not second.done()

        tasks.start("first", starts_another_when_it_ends())
        await asyncio.sleep(0)
    assert ended == ["first", "second"]
    assert len(tasks) == 0


async def test_what_a_timer_starts_after_the_end_does_not_begin():
    """Nothing runs on behind anybody's back; who waits for its end is told of it."""
    began, told = [], asyncio.Event()

    async def work():
        began.append(True)

    async with Tasks() as tasks:
        pass
    task = tasks.start("late", work(), then=told.set)
    await told.wait()
    assert task.cancelled()
    assert (began, len(tasks)) == ([], 0)


async def test_what_is_to_be_finished_goes_on_without_its_caller(caplog):
    """Its result and its fault are the caller's; once the caller is gone, a fault is logged."""
    go, ended = asyncio.Event(), []

    async def work():
        await go.wait()
        ended.append(True)
        return 7

    async def fails():
        await go.wait()
        raise ValueError("odd")

    async with Tasks() as tasks:
        calls = [asyncio.create_task(tasks.finish("work", each)) for each in (work, fails, work, fails)]
        await asyncio.sleep(0)
        for call in calls[2:]:
            call.cancel()
        await asyncio.wait(calls[2:])
        go.set()
        assert await calls[0] == 7
        with pytest.raises(ValueError, match="odd"):
            await calls[1]
        await tasks.idle()
        assert len(ended) == 2
        assert [each.message for each in caplog.records] == ["work failed: odd"]
        go.clear()
        killed = asyncio.create_task(tasks.finish("work", work))
        await asyncio.sleep(0)
        tasks.kill()
        await asyncio.wait({killed})
        assert killed.cancelled()


async def test_cancel_returns_when_it_has_ended():
    tidied = []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            tidied.append(True)

    async with Tasks() as tasks:
        task = tasks.start("work", work())
        await asyncio.sleep(0)
        await tasks.cancel(task)
        assert tidied


async def test_idle_waits_for_what_is_started_meanwhile():
    done = []

    async with Tasks() as tasks:

        async def leaf():
            await asyncio.sleep(0)
            done.append("leaf")

        async def branch():
            tasks.start("leaf", leaf())

        tasks.start("branch", branch())
        await tasks.idle()
        assert done == ["leaf"]


async def test_a_failure_is_a_log_line_and_touches_nobody_else(caplog):
    done = []

    async def trips():
        raise ZeroDivisionError("by nought")

    async def goes_on():
        await asyncio.sleep(0)
        done.append(True)

    with caplog.at_level(logging.ERROR):
        async with Tasks() as tasks:
            failing = tasks.start("run:tripping", trips())
            tasks.start("run:other", goes_on())
            await tasks.wait(failing)
            await tasks.idle()
    assert done
    assert "run:tripping failed: by nought" in caplog.text


@pytest.mark.parametrize(("fault", "lines"), [("closed", 0), ("full", 1)])
async def test_who_comes_too_late_for_the_store_has_not_failed(caplog, fault, lines):
    """A store is closed when its gateway ends; every other fault of it is told."""

    async def writes():
        raise StoreUnavailable(fault, "a.db")

    async with Tasks() as tasks:
        tasks.start("claim:someone", writes())
        await tasks.idle()
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == lines


async def test_what_waits_for_somebody_who_has_ended_is_told_again():
    """TU-20: a task that tidies up by waiting for another does not keep the gateway from ending."""
    known = asyncio.Event()

    async def waits():
        try:
            await known.wait()
        except asyncio.CancelledError:
            await known.wait()  # for what nobody will say any more
            raise

    tasks = Tasks(patience=0.01)
    task = tasks.start("run:waiting", waits())
    await asyncio.sleep(0)
    await tasks.close()
    assert task.cancelled()


async def test_what_takes_no_notice_is_left_behind(caplog):
    """TU-20: foreign code that catches whatever it is told keeps nobody waiting for ever."""
    over = asyncio.Event()

    async def is_deaf():
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()

    tasks = Tasks(patience=0.01)
    task = tasks.start("run:deaf", is_deaf())
    async with asyncio.timeout(PATIENCE):
        await asyncio.sleep(0)
        await asyncio.gather(tasks.cancel(task), tasks.cancel(task))
        await tasks.close()
        assert caplog.messages == ["run:deaf: does not end although it is cancelled, and is left behind"]
        over.set()
        await task
