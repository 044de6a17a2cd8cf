"""Discord under fire: a burst with a reconnect and a kill, and kills at the points that are Discord's own."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from rejoinder.testing import FakePlatform
from tests.crash.burst import MESSAGES, burst
from tests.crash.points import PERSONALITIES, point
from tests.crash.suite import run_all
from tests.crash.trial import Trial

KILLED_AT = ("K2", "K11", "K17", "K18")


@pytest.mark.parametrize("resumes", [True, False])
async def test_a_burst_with_a_reconnect_and_a_kill(tmp_path, resumes):
    """CH-20, CH-28, IN-20: Discord wants a new connection, or a new session, in the middle; then the process is killed
    and started again. Every message that mentions the bot is answered, once, in its channel, in order, and every other
    one is overheard, once."""
    async with FakePlatform("discord") as platform:
        gateway = platform.people.gateway

        async def reconnect() -> None:
            gateway.ask_to_reconnect() if resumes else gateway.end_sessions()

        verdict = await burst(tmp_path, platform, reconnect, mention="@testbot", more='threads = "off"')
        names = [call.name for call in platform.truth.calls if call.verb == "poll" and call.name != "CLOSED"]
        assert names[0] == "IDENTIFY"
        assert names.count("RESUME") >= 2
        assert (names.count("IDENTIFY") > 1) is not resumes
        assert verdict.messages == MESSAGES // 2
        assert verdict.is_clean, verdict
    with closing(sqlite3.connect(tmp_path / "rejoinder.db")) as db:
        rows = db.execute("SELECT state, reason, count(*), count(DISTINCT message) FROM inbox GROUP BY 1, 2 ORDER BY 1")
        half = MESSAGES // 2
        overheard = ("settled", "overheard: nobody mentioned us", half, half)
        assert rows.fetchall() == [("routed", "", half, half), overheard]


def test_killed_at_its_own_points():
    """DU-22, CH-28: on the way in, and while something is sent: nothing lost, nothing twice, nothing held."""
    assert "discord" in PERSONALITIES
    wanted = [Trial(point(name), "discord", point(name).passes[0], 4, 2) for name in KILLED_AT]
    results = asyncio.run(run_all(wanted, 3, tell=False))
    assert [(each.trial.name, each.wrong, each.held, each.duplicated) for each in results] == [
        (trial.name, [], [], []) for trial in wanted
    ]
