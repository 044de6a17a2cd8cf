"""Discord under fire: a burst with a reconnect and a kill, and kills at the points that are Discord's own."""

import asyncio

from rejoinder.testing import FakePlatform
from tests.crash.burst import MESSAGES, burst
from tests.crash.points import PERSONALITIES, point
from tests.crash.suite import run_all
from tests.crash.trial import Trial

KILLED_AT = ("K2", "K11", "K17", "K18")


async def test_a_burst_with_a_reconnect_and_a_kill(tmp_path):
    """CH-20, CH-28: Discord asks for a new connection, then the process is killed and started again: every message is
    answered, once, in its channel, in order."""
    async with FakePlatform("discord") as platform:

        async def reconnect() -> None:
            platform.people.gateway.ask_to_reconnect()

        verdict = await burst(tmp_path, platform, reconnect)
        names = [call.name for call in platform.truth.calls if call.verb == "poll" and call.name != "CLOSED"]
        assert names[0] == "IDENTIFY"
        assert names.count("RESUME") >= 2
        assert verdict.messages == MESSAGES
        assert verdict.is_clean, verdict


def test_killed_at_its_own_points():
    """DU-22, CH-28: on the way in, and while something is sent: nothing lost, nothing twice, nothing held."""
    assert "discord" in PERSONALITIES
    wanted = [Trial(point(name), "discord", point(name).passes[0], 4, 2) for name in KILLED_AT]
    results = asyncio.run(run_all(wanted, 3, tell=False))
    assert [(each.trial.name, each.wrong, each.held, each.duplicated) for each in results] == [
        (trial.name, [], [], []) for trial in wanted
    ]
