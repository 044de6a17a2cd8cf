"""Heartbeats through the whole gateway (TU-26, OD-45)."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from rejoinder.agents.base import Failed
from rejoinder.channels.base import Rejected
from rejoinder.config.jobs import HeartbeatSettings
from rejoinder.store.base import RequestJobRun
from rejoinder.testing import ScriptedAgent
from rejoinder.turns.heartbeat import PROMPT
from tests.conversations.agents import said
from tests.conversations.timed import MORNING, Days, a_job, with_heartbeat

ALARM = "The disk is nearly full: 97 %."


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The file is looked for where the gateway runs."""
    monkeypatch.chdir(tmp_path)


async def beat(days: Days):
    """Half an hour later; the job once that is over."""
    await days.rests()
    days.pass_by(minutes=30)
    now = days.clock.now
    return await days.job(lambda job: now in (job.fired, job.passed) and not job.is_open)


async def test_nothing_is_said_when_nothing_is_to_be_said(tmp_path):
    """TU-26, OD-45: an acknowledgement is silence, with a little beside it too; the transcript does not grow."""
    days = Days(tmp_path, with_heartbeat())
    agent = ScriptedAgent("HEARTBEAT_OK", "All is well. HEARTBEAT_OK", f"HEARTBEAT_OK {'x' * 301}")
    async with days.running(agent) as gateway:
        assert (await days.known()).due == MORNING + timedelta(minutes=30)
        assert (await beat(days)).outcome == "silent"
        assert (await beat(days)).outcome == "silent"
        assert not await gateway.store.transcript("scripted:cron:heartbeat/scripted", MORNING)
        assert (await beat(days)).outcome == "answered"
        await days.chat.hears("x" * 301)
    assert [said(turn) for turn in agent.turns] == [[PROMPT]] * 3
    assert days.channel.typed == 0


async def test_nobody_sees_it_grow(tmp_path):
    """OD-45: heartbeat turns are not streamed."""
    days = Days(tmp_path, with_heartbeat())
    half, go = asyncio.Event(), asyncio.Event()

    async def waits():
        half.set()
        await go.wait()

    agent = ScriptedAgent([f"{'Long. ' * 60}", waits, "End."])
    async with days.running(agent):
        await days.known()
        days.pass_by(minutes=30)
        await half.wait()
        assert not days.said
        go.set()
        assert (await days.chat.hears()).text.endswith("End.")


async def test_what_was_just_said_is_not_said_again(tmp_path):
    """TU-26: not within 24 hours, also after a restart; later it is."""
    days = Days(tmp_path, with_heartbeat(every="12h"))

    async def half_a_day():
        await days.rests()
        days.pass_by(hours=12)
        now = days.clock.now
        return await days.job(lambda job: job.fired == now and not job.is_open)

    async with days.running(ScriptedAgent(ALARM)):
        await days.known()
        await half_a_day()
        await days.chat.hears(ALARM)
    async with days.running(ScriptedAgent(f"{ALARM}\n", "Something else.", ALARM, ALARM)):
        await half_a_day()
        await half_a_day()
        await days.chat.hears("Something else.")
        await half_a_day()
        await days.chat.hears(ALARM)
        await half_a_day()
    assert days.said == [ALARM, "Something else.", ALARM]


async def test_two_texts_in_turn_are_each_said_once(tmp_path):
    """TU-26: what counts is every text of a day, not the last one alone."""
    days = Days(tmp_path, with_heartbeat())
    async with days.running(ScriptedAgent(ALARM, "Something else.", ALARM, "Something else.")):
        await days.known()
        for _ in range(4):
            await beat(days)
    assert days.said == [ALARM, "Something else."]


async def test_what_was_not_delivered_is_said_again(tmp_path):
    """TU-26: only a delivered text is not repeated: nobody has read one that was given up."""
    days = Days(tmp_path, with_heartbeat())
    days.channel.fails(Rejected("blocked", "gone"))
    async with days.running(ScriptedAgent(ALARM, ALARM, ALARM)) as gateway:
        await days.known()
        await beat(days)
        assert await gateway.store.count_parts("dead") == 1
        await beat(days)
        await days.chat.hears(ALARM)
        await beat(days)
    assert days.said == [ALARM]


@pytest.mark.parametrize(
    ("notes", "woken"),
    [
        ("", False),
        ("# Heartbeat\n\n-\n- [ ]\n  * [x]\n1.\n### Later\n", False),
        ("# Heartbeat\n- water the plants\n", True),
        ("#TODO\n", True),
        (None, True),
    ],
)
async def test_a_file_that_asks_for_nothing_wakes_nobody(tmp_path, notes, woken):
    """TU-26: only blanks, headings and empty items; no file is no reason."""
    if notes is not None:
        (tmp_path / "HEARTBEAT.md").write_text(notes)
    days = Days(tmp_path, with_heartbeat())
    agent = ScriptedAgent("HEARTBEAT_OK")
    async with days.running(agent):
        await days.known()
        job = await beat(days)
    assert bool(agent.turns) is woken
    assert job.reason == ("" if woken else "its file lists nothing to do")
    if woken and notes:
        assert said(agent.turns[0]) == [f"{PROMPT}\n\nHEARTBEAT.md:\n\n{notes.strip()}"]


async def test_quiet_hours(tmp_path):
    """TU-26: active hours in a zone, over midnight; by hand they do not count."""
    days = Days(tmp_path, with_heartbeat(active_hours="22:00-09:30", zone="Europe/Berlin"))
    agent = ScriptedAgent("HEARTBEAT_OK", "HEARTBEAT_OK")
    async with days.running(agent) as gateway:
        await days.known()
        assert (await beat(days)).reason == "these are quiet hours"  # 09:30 in Berlin
        await gateway.store.write(RequestJobRun("heartbeat/scripted"))
        days.look()
        await days.job(lambda job: job.outcome == "silent")
        await days.rests()
        days.pass_by(hours=13)
        await days.job(lambda job: job.fired == days.clock.now and not job.is_open)
    assert len(agent.turns) == 2


@pytest.mark.parametrize("session", [None, "scripted:fake:default:direct:ann"])
async def test_who_is_talked_to_is_left_alone(tmp_path, session):
    """TU-26: skipped while something runs in its session, or in the chat it would speak in."""
    days = Days(tmp_path, with_heartbeat(session=session))
    go = asyncio.Event()
    agent = ScriptedAgent(["One", go.wait, "."], "HEARTBEAT_OK")
    async with days.running(agent):
        await days.known()
        await days.chat.says("one")
        await days.chat.sees("One")
        days.pass_by(minutes=30)
        passed = await days.job(lambda job: job.passed is not None)
        assert passed.reason == "somebody is talking to the agent"
        go.set()
        await days.chat.hears("One.")
        assert (await beat(days)).outcome == "silent"


async def test_a_job_is_nobody_talking(tmp_path):
    """TU-26: while a job's turn runs in the same chat, the heartbeat has its own."""
    settings = replace(with_heartbeat(), cron={"report": a_job(every="30m", agent="scripted")})
    days, go = Days(tmp_path, settings), asyncio.Event()
    async with days.running(ScriptedAgent(["Looking", go.wait, "."], "HEARTBEAT_OK")):
        await days.known("report")
        await days.known("heartbeat/scripted")
        days.pass_by(minutes=30)
        await days.chat.sees("Looking")
        job = await days.job(lambda job: job.fired is not None and not job.is_open, "heartbeat/scripted")
        assert (job.outcome, job.passed) == ("silent", None)
        go.set()
        await days.chat.hears("Looking.")


async def test_a_session_is_not_shared_at_the_same_time(tmp_path):
    """TU-26: where a job's turn runs in the heartbeat's own session, the reason for skipping says so."""
    job = a_job(every="30m", agent="scripted", session="ours")
    days, go = Days(tmp_path, replace(with_heartbeat(session="ours"), cron={"report": job})), asyncio.Event()
    async with days.running(ScriptedAgent(["Looking", go.wait, "."])):
        await days.known("report")
        await days.known("heartbeat/scripted")
        days.pass_by(minutes=30)
        skipped = await days.job(lambda job: job.passed is not None, "heartbeat/scripted")
        assert skipped.reason == "its session is busy with another job"
        go.set()
        await days.chat.hears("Looking.")


async def test_a_stopped_run_silences_no_heartbeat(tmp_path):
    """TU-26: after `/stop` the session remembers that, and has nothing to do."""
    days = Days(tmp_path, with_heartbeat(session="scripted:fake:default:direct:ann"))
    go = asyncio.Event()
    async with days.running(ScriptedAgent(["One", go.wait, "."], "HEARTBEAT_OK")):
        await days.known()
        await days.chat.says("one")
        await days.chat.sees("One")
        await days.chat.says("/stop")
        await days.chat.hears("One")
        await days.chat.hears("Agent was aborted.")
        assert (await beat(days)).outcome == "silent"


async def test_a_failure_is_not_told_to_the_chat(tmp_path, caplog):
    """TU-26: nobody waits for it; it is in the log and in the list."""
    days = Days(tmp_path, with_heartbeat())
    async with days.running(ScriptedAgent([Failed("billing", "Nobody paid.", "402")])):
        await days.known()
        job = await beat(days)
        assert (job.outcome, job.detail) == ("failed", "billing")
    assert not days.said
    assert "a heartbeat of scripted has failed: Nobody paid. 402" in caplog.text


async def test_what_holds_for_all_agents(tmp_path):
    """TU-26: an agent's own table first, then `agents.defaults.heartbeat`."""
    usual = HeartbeatSettings(every="2h", model="small", prompt="Look around.", ack_max_chars=3)
    days = Days(tmp_path, with_heartbeat(defaults=usual, every="1h"))
    agent = ScriptedAgent("HEARTBEAT_OK four", "HEARTBEAT_OK abc")
    async with days.running(agent):
        assert (await days.known()).due == MORNING + timedelta(hours=1)
        days.pass_by(hours=1)
        await days.chat.hears("four")
        await days.rests()
        days.pass_by(hours=1)
        await days.job(lambda job: job.outcome == "silent")
    assert [(turn.model, said(turn)) for turn in agent.turns] == [("small", ["Look around."])] * 2
