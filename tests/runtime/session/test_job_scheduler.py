"""The timer that waits for the nearest job: on a clock that jumps, nothing is slept for (TU-27)."""

import asyncio
from datetime import UTC, datetime, timedelta

from rejoinder.errors import StoreUnavailable
from rejoinder.events import JobTicked
from rejoinder.runtime.live import Live
from rejoinder.runtime.session.job_scheduler import LONGEST_WAIT, JobHome, JobScheduler
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import RequestJobRun
from rejoinder.store.sqlite import open_store
from rejoinder.turns.job import Heartbeat, Job
from rejoinder.turns.schedule import read_schedule
from tests.crash.virtual_time import VirtualTime

DAY = datetime(2026, 11, 16, tzinfo=UTC)


def a_job(name, **when):
    (written,) = when.values()
    schedule = read_schedule(UTC, **when)
    return Job(
        name=name, written=written, schedule=schedule, agent="a", prompt="Now.", session=f"a:{name}", new_session=True
    )


class World:
    """A clock that goes with the loop, a store in memory, and what was begun."""

    def __init__(self, *jobs, read=lambda path: None):
        self.loop = asyncio.get_running_loop()
        self._began = self.loop.time()
        self.store = open_store("sqlite::memory:")
        self.begun = []
        self.told = []
        self.looked = 0
        self.refusal = None
        self.answer = "it was only tried"
        home = JobHome(self.store, self, self.begin)
        self.scheduler = JobScheduler(Live(jobs), self.store, lambda _: home, self.now, read, self.told.append)

    def now(self):
        self.looked += 1
        return DAY + timedelta(seconds=self.loop.time() - self._began)

    async def begin(self, turn, tick):
        self.begun.append(turn.session)
        if self.refusal is not None:
            raise self.refusal
        return self.answer

    def get(self, key):
        return None

    def at(self, route):
        return []

    async def jobs(self):
        return {job.name: job for job in await self.store.jobs()}


def in_virtual_time(test):
    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(test())


def test_a_job_is_done_where_its_session_is_at_home():
    """SC-15: one whose session another process owns is left to it, until this process owns it."""

    async def test():
        world = World(a_job("here", every="45s"), a_job("there", every="45s"))
        home, owned = world.scheduler._home, {"a:here"}
        world.scheduler._home = lambda session: home(session) if session in owned else None
        async with Tasks() as tasks:
            tasks.start("clock", world.scheduler.run())
            await asyncio.sleep(100)
            assert world.begun == ["a:here", "a:here"]
            assert set(await world.jobs()) == {"here"}
            owned.add("a:there")
            world.scheduler.changed()
            await asyncio.sleep(50)
        assert world.begun[2:] == ["a:here", "a:there"]
        await world.store.close()

    in_virtual_time(test)


def test_each_in_its_time():
    """TU-27: one timer for the nearest of all."""

    async def test():
        world = World(a_job("quick", every="45s"), a_job("slow", every="1m50s"), a_job("hourly", cron="3 * * * *"))
        async with Tasks() as tasks:
            tasks.start("clock", world.scheduler.run())
            await asyncio.sleep(200)
        assert world.begun[:4] == ["a:quick", "a:quick", "a:slow", "a:quick"]  # after 45, 90, 110 and 135 seconds
        assert sorted(world.begun[4:]) == ["a:hourly", "a:quick"]  # after 180
        await world.store.close()

    in_virtual_time(test)


def test_no_wait_is_long():
    """A machine that slept, or whose clock was set, is noticed within half a minute."""

    async def test():
        world = World(a_job("rare", every="30d"))
        async with Tasks() as tasks:
            tasks.start("clock", world.scheduler.run())
            await asyncio.sleep(10 * LONGEST_WAIT + 1)
        assert 10 <= world.looked // 2 <= 12
        await world.store.close()

    in_virtual_time(test)


def test_who_is_told_looks_at_once():
    """TU-27: an operator's word, as soon as the store tells of it."""

    async def test():
        world = World(a_job("rare", every="30d"))
        async with Tasks() as tasks:
            tasks.start("clock", world.scheduler.run())
            await asyncio.sleep(1)
            await world.store.write(RequestJobRun("rare"))
            world.scheduler.changed()
            await asyncio.sleep(1)
        assert world.begun == ["a:rare"]
        assert not (await world.jobs())["rare"].wanted
        await world.store.close()

    in_virtual_time(test)


def test_a_job_that_cannot_begin_holds_up_nobody(caplog):
    """TU-27: its tick passes with a reason, and is not tried again and again."""

    async def test():
        world = World(a_job("first", every="1m"), a_job("second", every="1m"))
        world.refusal = RuntimeError("broken")
        async with Tasks() as tasks:
            tasks.start("clock", world.scheduler.run())
            await asyncio.sleep(100)
        assert world.begun == ["a:first", "a:second"]
        assert (await world.jobs())["first"].reason == "failed: RuntimeError"
        await world.store.close()

    in_virtual_time(test)
    assert "first could not begin" in caplog.text


def test_a_store_that_cannot_be_written_is_waited_for():
    """DU-15: nothing is fired that cannot be kept; when it can, it is fired once."""

    async def test():
        world = World(a_job("only", every="1m"))
        good = world.store.jobs
        async with Tasks() as tasks:
            tasks.start("clock", world.scheduler.run())
            await asyncio.sleep(1)

            async def full():
                raise StoreUnavailable("full", "here")

            world.store.jobs = full
            await asyncio.sleep(100)
            assert not world.begun
            world.store.jobs = good
            await asyncio.sleep(5)
        assert world.begun == ["a:only"]
        await world.store.close()

    in_virtual_time(test)


def test_what_stands_in_the_file(monkeypatch):
    """TU-26: it is read at each tick."""

    async def at_once(read, *arguments):  # no thread keeps up with a clock that jumps
        return read(*arguments)

    monkeypatch.setattr(asyncio, "to_thread", at_once)

    async def test():
        notes = iter(["# Nothing", "- something"])
        beats = Heartbeat(notes="HEARTBEAT.md")
        job = a_job("beats", every="1m")
        job = Job(**{name: getattr(job, name) for name in job.__struct_fields__} | {"heartbeat": beats})
        world = World(job, read=lambda path: next(notes))
        async with Tasks() as tasks:
            tasks.start("clock", world.scheduler.run())
            await asyncio.sleep(90)
            assert (await world.jobs())["beats"].reason == "its file lists nothing to do"
            assert not world.begun
            await asyncio.sleep(60)
        assert len(world.begun) == 1
        await world.store.close()

    in_virtual_time(test)


def test_who_watches_is_told_of_each_tick():
    """IN-8: those that get a turn, and those that get none, with the reason."""

    async def test():
        world = World(a_job("quick", every="1m"))
        async with Tasks() as tasks:
            tasks.start("clock", world.scheduler.run())
            await asyncio.sleep(90)
            world.answer = None
            await asyncio.sleep(45)  # past the second minute, and before the next look at a tick that nothing noted
        await world.store.close()
        told = ("quick", "a", "a:quick")
        assert world.told == [JobTicked(*told, "it was only tried"), JobTicked(*told)]

    in_virtual_time(test)
