"""Jobs of the clock through the whole gateway (TU-27)."""

from datetime import timedelta

from rejoinder.testing import ScriptedAgent
from tests.conversations.agents import said, told
from tests.conversations.timed import MORNING, Days, a_job, with_jobs


async def test_every_so_often(tmp_path):
    """TU-27: a turn without sender or trigger, whose words go to its chat; the next is one interval later."""
    days = Days(tmp_path, with_jobs(tidy=a_job(every="1h")))
    agent = ScriptedAgent("All tidy.", "Still tidy.")
    async with days.running(agent):
        assert (await days.known()).due == MORNING + timedelta(hours=1)
        await days.pass_by(hours=1)
        await days.chat.hears("All tidy.")
        job = await days.job(lambda job: job.outcome == "answered")
        assert (job.fired, job.due) == (MORNING + timedelta(hours=1), MORNING + timedelta(hours=2))
        await days.pass_by(hours=1)
        await days.chat.hears("Still tidy.")
    assert [said(turn) for turn in agent.turns] == [["Look after things."]] * 2
    assert "sender_context" not in told(agent.turns[0])
    assert days.channel.typed == 0
