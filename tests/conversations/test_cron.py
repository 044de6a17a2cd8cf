"""Jobs of the clock through the whole gateway (TU-27)."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from rejoinder.agents.base import Failed
from rejoinder.app import with_channel
from rejoinder.config.schema import MessagesSettings
from rejoinder.inbound.settings import SendPolicy
from rejoinder.store.base import PauseJob, RequestJobRun
from rejoinder.store.sqlite.operator import open_for_operator
from rejoinder.testing import ScriptedAgent
from tests.conversations.agents import said, told
from tests.conversations.timed import MORNING, Days, a_job, with_jobs

HOUR = timedelta(hours=1)


class Forgetful(ScriptedAgent):
    def __init__(self, *answers):
        super().__init__(*answers)
        self.forgotten = []

    def forget(self, session):
        self.forgotten.append(session)


async def test_every_so_often(tmp_path):
    """TU-27: a turn without sender or trigger, whose words go to its chat; the next is one interval later."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h")))
    agent = ScriptedAgent("All tidy.", "Still tidy.")
    async with days.running(agent):
        assert (await days.known()).due == MORNING + HOUR
        days.pass_by(hours=1)
        await days.chat.hears("All tidy.")
        job = await days.job(lambda job: job.outcome == "answered")
        assert (job.fired, job.due) == (MORNING + HOUR, MORNING + 2 * HOUR)
        days.pass_by(hours=1)
        await days.chat.hears("Still tidy.")
    assert [said(turn) for turn in agent.turns] == [["Look after things."]] * 2
    assert "sender_context" not in told(agent.turns[0])
    assert days.channel.typed == 0


async def test_at_times_of_the_day_and_once(tmp_path):
    """TU-27: by the clocks of their zones, each job by itself."""
    jobs = with_jobs(
        early=a_job("Early.", schedule="30 9 * * *", zone="Europe/Berlin"),
        once=a_job("Once.", at="2026-11-16 08:45"),
        past=a_job("Never.", at="2026-11-16 08:00"),
    )
    days = Days(tmp_path, jobs)
    agent = ScriptedAgent("One.", "Two.", "Three.")
    async with days.running(agent):
        assert (await days.known("early")).due == MORNING + timedelta(minutes=30)
        assert (await days.known("past")).due is None
        days.pass_by(minutes=30)
        await days.chat.hears("One.")
        days.pass_by(minutes=15)
        await days.chat.hears("Two.")
        assert (await days.job(lambda job: job.name == "once")).due is None
        days.pass_by(hours=23, minutes=45)
        await days.chat.hears("Three.")
    assert [said(turn) for turn in agent.turns] == [["Early."], ["Once."], ["Early."]]


async def test_each_turn_has_a_new_session(tmp_path):
    """TU-27: a job has a session to itself, and forgets; so it costs the same after a year."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h")))
    agent = Forgetful("One.", "Two.", "Three.")
    async with days.running(agent) as gateway:
        await days.known()
        for text in ("One.", "Two.", "Three."):
            days.pass_by(hours=1)
            await days.chat.hears(text)
            await days.job(lambda job: not job.is_open)
        session = (await gateway.store.session("scripted:cron:tidy")).session
    assert agent.forgotten == ["scripted:cron:tidy"] * 2
    assert session.started == MORNING + 3 * HOUR
    assert {turn.session for turn in agent.turns} == {"scripted:cron:tidy"}


async def test_a_session_that_is_named_goes_on(tmp_path):
    """TU-27: it knows what was said, waits for what runs there, and leaves the session's age alone."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h", session="scripted:fake:default:direct:ann")))
    go = asyncio.Event()
    agent = ScriptedAgent(["One", go.wait, "."], "All tidy.")
    async with days.running(agent) as gateway:
        await days.known()
        await days.chat.says("one")
        await days.chat.sees("One")
        days.pass_by(hours=1)
        waiting = await days.job(lambda job: job.state == "waiting")
        assert waiting.fired == MORNING + HOUR
        go.set()
        await days.chat.hears("One.")
        await days.chat.hears("All tidy.")
        await days.job(lambda job: not job.is_open)
        kept = await gateway.store.session("scripted:fake:default:direct:ann")
        assert MORNING <= kept.session.touched < MORNING + HOUR
    assert len({turn.session for turn in agent.turns}) == 1


async def test_it_does_not_overlap_itself(tmp_path):
    """TU-27: while its last turn runs a tick passes, with a reason; the next one after its end is fired."""
    days = Days(tmp_path, with_jobs(slow=a_job(every="1h")))
    go = asyncio.Event()
    agent = ScriptedAgent(["Slow", go.wait, "."], "Quick.")
    async with days.running(agent):
        await days.known()
        days.pass_by(hours=1)
        await days.chat.sees("Slow")
        days.pass_by(hours=1)
        passed = await days.job(lambda job: job.passed is not None)
        assert (passed.reason, passed.due) == ("its last turn has not ended yet", MORNING + 3 * HOUR)
        go.set()
        await days.chat.hears("Slow.")
        await days.job(lambda job: not job.is_open)
        days.pass_by(hours=1)
        await days.chat.hears("Quick.")


@pytest.mark.parametrize(("missed", "heard"), [("once", ["Now."]), ("skip", [])])
async def test_what_was_missed(tmp_path, missed, heard):
    """TU-27: one turn for all of it, or none; the next is in step with the first."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h", missed=missed)))
    async with days.running(ScriptedAgent()):
        await days.known()
    days.clock.now += timedelta(hours=5, minutes=10)
    async with days.running(ScriptedAgent("Now.")):
        job = await days.job(lambda job: job.due == MORNING + 6 * HOUR)
        assert (job.passed is None) is bool(heard)
        await days.job(lambda job: not job.is_open)
    assert days.said == heard


async def test_a_restart_changes_nothing(tmp_path):
    """TU-27, DU-5: neither fired again nor put off: it is due when it was due."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h")))
    agent = ScriptedAgent("One.", "Two.")
    async with days.running(agent):
        await days.known()
        days.pass_by(hours=1)
        await days.chat.hears("One.")
    for _ in range(3):
        days.clock.now += timedelta(minutes=15)
        async with days.running(agent):
            assert (await days.known()).due == MORNING + 2 * HOUR
    async with days.running(agent):
        days.pass_by(minutes=15)
        await days.chat.hears("Two.")


async def test_a_clock_that_is_set_back(tmp_path):
    """TU-27: a tick that comes a second time by the clock is not fired a second time, and nothing waits for years."""
    days = Days(tmp_path, with_jobs(nine=a_job(schedule="0 9 * * *"), tidy=a_job("Tidy.", every="1d")))
    agent = ScriptedAgent("Nine.", "Tidy.")
    async with days.running(agent):
        await days.known("tidy")
        days.pass_by(hours=1)
        await days.chat.hears("Nine.")
        await days.job(lambda job: not job.is_open, "nine")
        days.pass_by(minutes=-30)
        assert (await days.job(lambda job: job.due == MORNING + HOUR, "nine")).fired == MORNING + HOUR
        days.pass_by(minutes=30)
        await days.job(lambda job: job.due == MORNING + 25 * HOUR, "nine")
        days.pass_by(days=-1000)
        tidy = await days.job(lambda job: job.due is not None and job.due < MORNING, "tidy")
        assert tidy.due == days.clock.now + 24 * HOUR
    assert len(agent.turns) == 1


async def test_a_job_that_is_rewritten_or_gone(tmp_path):
    """TU-27: its ticks start over, and nothing of the time before is made up for."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h")))
    async with days.running(ScriptedAgent()):
        await days.known()
    days.settings = with_jobs(tidy=a_job(every="2h"))
    days.clock.now += 5 * HOUR
    async with days.running(ScriptedAgent()):
        assert (await days.job(lambda job: job.schedule == "2h")).due == MORNING + 7 * HOUR
    days.settings = with_jobs(other=a_job(every="1h"))
    async with days.running(ScriptedAgent()):
        gone = await days.job(lambda job: not job.schedule, "tidy")
        assert gone.due is None


async def test_the_words_of_an_operator(tmp_path):
    """TU-27: run now, pause and resume, beside the gateway; what was due in the pause is not made up for."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h")))
    agent = ScriptedAgent("By hand.", "By the clock.")
    async with days.running(agent):
        await days.known()
        operator = open_for_operator(days.url)
        await operator.write(RequestJobRun("tidy"))
        days.look()  # as the store tells within a second
        await days.chat.hears("By hand.")
        job = await days.job(lambda job: not job.is_open)
        assert (job.wanted, job.due) == (False, MORNING + HOUR)
        await operator.write(PauseJob("tidy", True))
        days.pass_by(hours=5)
        await operator.write(PauseJob("tidy", False))
        days.look()
        assert (await days.job(lambda job: job.due is not None)).due == MORNING + 6 * HOUR
        days.pass_by(hours=1)
        await days.chat.hears("By the clock.")
    await operator.close()


async def test_a_failure_is_told(tmp_path):
    """TU-27, TU-20: in the chat, and in the list."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h")))
    agent = ScriptedAgent([Failed("billing", "Nobody paid.", "402")])
    async with days.running(agent):
        await days.known()
        days.pass_by(hours=1)
        assert (await days.chat.hears()).text
        job = await days.job(lambda job: job.outcome is not None)
        assert (job.outcome, job.detail) == ("failed", "billing")


async def test_the_send_policy_holds(tmp_path):
    """IN-75, IN-12: where nothing may be sent, nobody is asked."""
    settings = replace(
        with_jobs(tidy=a_job(every="1h")), messages=MessagesSettings(send_policy=SendPolicy(default="deny"))
    )
    days = Days(tmp_path, settings)
    agent = ScriptedAgent()
    async with days.running(agent):
        await days.known()
        days.pass_by(hours=1)
        passed = await days.job(lambda job: job.passed is not None)
        assert passed.reason == "the send policy denies it by default"
    assert not agent.turns


async def test_a_model_of_its_own(tmp_path):
    """IN-52: for this turn."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h", model="small")))
    agent = ScriptedAgent("One.")
    async with days.running(agent):
        await days.known()
        days.pass_by(hours=1)
        await days.chat.hears("One.")
    assert agent.turns[0].model == "small"


async def test_one_job_does_not_hold_up_the_others(tmp_path):
    """TU-27: what fails before its turn has a reason, and the next job is looked at."""
    jobs = with_jobs(broken=a_job(every="1h", agent="nobody"), fine=a_job(every="1h"))
    days = Days(tmp_path, jobs)
    async with days.running(ScriptedAgent("Fine.")):
        await days.known("fine")
        days.pass_by(hours=1)
        await days.chat.hears("Fine.")
        broken = await days.job(lambda job: job.passed is not None, "broken")
        assert broken.reason == "there is no agent nobody"


async def test_jobs_come_and_go_while_the_gateway_runs(tmp_path):
    """surface.md: reload on change; a gateway that had no job before has one now."""
    days = Days(tmp_path, with_jobs())
    agent = ScriptedAgent("One.")
    async with days.running(agent) as gateway:
        assert gateway.scheduler is None
        before = with_channel(with_jobs(), "fake", agent.name, ("ann",))
        gateway.reconfigure(replace(before, cron={"tidy": a_job(every="1h")}))
        await days.known("tidy")
        days.pass_by(hours=1)
        await days.chat.hears("One.")
        await days.job(lambda job: not job.is_open)
        gateway.reconfigure(before)
        await days.job(lambda job: not job.schedule)
