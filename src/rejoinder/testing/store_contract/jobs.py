"""Jobs of the clock: each tick once, and what became of it (TU-27, DU-5)."""

from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from rejoinder.errors import Superseded
from rejoinder.store.base import (
    BeginTurn,
    CreateOwnEvent,
    Destination,
    DropInputs,
    EndRun,
    JobReply,
    PauseJob,
    PutJob,
    QuarantineTurn,
    RecordJobReply,
    RequestJobRun,
    RunClaim,
    SkipTick,
    Store,
    StoredJob,
    Tick,
)
from rejoinder.testing.store_contract.given import HERE, NOW, SOON, an_inbound, loses, refused
from rejoinder.testing.store_contract.opened import Opened

NEXT = NOW + timedelta(hours=1)
TICK = Tick("tidy", SOON, NEXT)


def fires(number: int, tick: Tick | None = TICK, now: datetime = SOON) -> CreateOwnEvent:
    return CreateOwnEvent(replace(an_inbound(number), entry="cron"), Destination("s", b"payload"), now, tick)


async def the_job(store: Store) -> StoredJob:
    (job,) = await store.jobs()
    return job


class Jobs(Opened):
    async def test_a_tick_and_its_turn_are_one(self, tmp_path: Path) -> None:
        """TU-27: the turn begins to wait in its session in the same commit in which the job's next tick is set."""
        async with self.opened(tmp_path) as store:
            await store.write(PutJob("tidy", "1h", SOON))
            assert await store.jobs() == (StoredJob("tidy", "1h", SOON),)
            event = await store.write(fires(1))
            assert event is not None
            (waiting,) = await store.waiting_inputs("s")
            assert (waiting.event.id, waiting.payload) == (event.id, b"payload")
            assert await the_job(store) == StoredJob("tidy", "1h", NEXT, fired=SOON, state="waiting")
            found = await store.recover(SOON)
            assert [put.event.id for backlog in found.backlogs for put in backlog.singly] == [event.id]
            assert not found.events

    async def test_a_tick_is_fired_once(self, tmp_path: Path) -> None:
        """TU-27: the second caller finds that the job has moved on, and none of its writes take effect."""
        async with self.opened(tmp_path) as store:
            await store.write(PutJob("tidy", "1h", SOON))
            await store.write(fires(1))
            await loses(store, fires(2))
            await loses(store, SkipTick(TICK, "too late", NOW))
            assert len(await store.waiting_inputs("s")) == 1

    async def test_a_turn_that_is_there_already_is_not_begun_again(self, tmp_path: Path) -> None:
        """TU-27: the job moves on, but the event stays the earlier one."""
        async with self.opened(tmp_path) as store:
            await store.write(PutJob("tidy", "1h", SOON))
            await store.write(fires(1, None))
            assert await store.write(fires(1)) is None
            assert (await the_job(store)).due == NEXT
            assert len(await store.waiting_inputs("s")) == 1

    async def test_a_tick_that_passes_says_why(self, tmp_path: Path) -> None:
        """TU-26: a skipped tick has a reason."""
        async with self.opened(tmp_path) as store:
            await store.write(PutJob("tidy", "1h", SOON))
            await store.write(SkipTick(TICK, "quiet hours", SOON))
            assert await the_job(store) == StoredJob("tidy", "1h", NEXT, passed=SOON, reason="quiet hours")

    async def test_what_became_of_its_turn(self, tmp_path: Path) -> None:
        """TU-27: the turn itself says whether it runs and how it ended."""
        async with self.opened(tmp_path) as store:
            await store.write(PutJob("tidy", "1h", SOON))
            event = await store.write(fires(1))
            assert event is not None
            run = await store.write(BeginTurn("s", HERE, (event.id,), NOW))
            assert isinstance(run, RunClaim)
            assert (await the_job(store)).state == "running"
            assert (await the_job(store)).is_open
            await store.write(EndRun(run, "failed", SOON, "timeout"))
            ended = await the_job(store)
            assert (ended.state, ended.outcome, ended.detail, ended.is_open) == ("over", "failed", "timeout", False)

    async def test_what_was_dropped_or_quarantined_is_over(self, tmp_path: Path) -> None:
        """TU-27: a dropped or quarantined turn holds up no tick."""
        async with self.opened(tmp_path) as store:
            await store.write(PutJob("tidy", "1h", SOON))
            event = await store.write(fires(1))
            assert event is not None
            await store.write(DropInputs("s", (event.id,), "stopped"))
            dropped = await the_job(store)
            assert (dropped.state, dropped.outcome, dropped.detail) == ("over", "dropped", "stopped")
            again = await store.write(fires(2, Tick("tidy", NEXT, None)))
            assert again is not None
            run = await store.write(BeginTurn("s", HERE, (again.id,), NOW))
            assert isinstance(run, RunClaim)
        async with self.opened(tmp_path) as store:
            if self.survives:
                await store.write(QuarantineTurn(run.turn, NOW, ""))
                assert await the_job(store) == StoredJob("tidy", "1h", None, fired=SOON, state="quarantined")

    async def test_a_job_that_is_written_differently(self, tmp_path: Path) -> None:
        """TU-27: the ticks of a changed job start over; it stays paused, and its last run stays known."""
        async with self.opened(tmp_path) as store:
            await store.write(PutJob("tidy", "1h", SOON), SkipTick(TICK, "busy", SOON), PauseJob("tidy", True))
            await store.write(PutJob("tidy", "2h", SOON))
            assert await the_job(store) == StoredJob("tidy", "2h", SOON, paused=True, passed=SOON, reason="busy")

    async def test_what_was_said_is_known_again(self, tmp_path: Path) -> None:
        """TU-26: texts are recognised even after a restart, each by itself; those older than the given time are
        forgotten."""
        async with self.opened(tmp_path) as store:
            old, said = JobReply("old", "t1-00", NOW), JobReply("abc", "t2-00", SOON)
            await store.write(RecordJobReply("tidy", old, NOW), RecordJobReply("other", old, NOW))
            await store.write(RecordJobReply("tidy", replace(said, stem="t2"), NOW), RecordJobReply("tidy", said, SOON))
            assert await store.earlier_job_reply("tidy", "abc") == said
        if self.survives:
            async with self.opened(tmp_path) as store:
                assert await store.earlier_job_reply("tidy", "abc") == said
                assert await store.earlier_job_reply("tidy", "old") is None
                assert await store.earlier_job_reply("other", "old") == old

    async def test_an_operator_beside_the_gateway(self, tmp_path: Path) -> None:
        """TU-27: an operator pauses, resumes and runs existing jobs; a resumed job is due as if it were new."""
        if not self.survives:
            return
        async with self.opened(tmp_path) as store:
            operator = self.operator(tmp_path)
            try:
                for verb in (RequestJobRun("tidy"), PauseJob("tidy", True)):
                    with refused(Superseded):
                        await operator.write(verb)
                await store.write(PutJob("tidy", "1h", SOON))
                await operator.write(PauseJob("tidy", True))
                await operator.write(RequestJobRun("tidy"))
                assert await the_job(store) == StoredJob("tidy", "1h", paused=True, wanted=True)
                await store.write(fires(1, Tick("tidy", None, None)))
                assert not (await the_job(store)).wanted
                await operator.write(PauseJob("tidy", False))
                assert (await the_job(store)).needs_schedule
                await store.write(PutJob("tidy", "1h", SOON))
                assert await operator.jobs() == (StoredJob("tidy", "1h", SOON, fired=SOON, state="waiting"),)
            finally:
                await operator.close()
