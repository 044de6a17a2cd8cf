"""Slack under fire: a burst with a refreshed socket and a kill, and kills at the points that are Slack's own."""

import asyncio

from rejoinder.testing import FakePlatform
from rejoinder.testing.ports import free_port
from tests.crash.burst import MESSAGES, burst
from tests.crash.points import PERSONALITIES, point
from tests.crash.suite import run_all
from tests.crash.trial import Trial

KILLED_AT = ("K2", "K4", "K11", "K18")


async def test_a_burst_with_a_refresh_and_a_kill(tmp_path):
    """CH-30, CH-35: Slack refreshes the socket, then the process is killed and started again; every message is answered
    once, in its channel, in order."""
    async with FakePlatform("slack") as platform:
        events = platform.people.events

        async def refresh() -> None:
            await platform.truth.until(lambda: bool(platform.truth.messages()))
            await events.ask_to_refresh()

        verdict = await burst(tmp_path, platform, refresh)
        assert events.opened >= 3
        assert not events.lost
        assert verdict.messages == MESSAGES
        assert verdict.is_clean, verdict


async def test_a_burst_of_signed_events_with_a_kill(tmp_path):
    """CH-30, CH-35: the same where Slack calls us: what is not confirmed comes again, or is read from history."""
    port = free_port()
    async with FakePlatform("slack", events_url=f"http://127.0.0.1:{port}/slack/events") as platform:

        async def wait() -> None:
            await platform.truth.until(lambda: bool(platform.truth.messages()))

        verdict = await burst(tmp_path, platform, wait, called=port)
        assert verdict.messages == MESSAGES
        assert verdict.is_clean, verdict


def test_killed_at_its_own_points():
    """DU-22, DU-3: on the way in, and while something is sent: nothing lost, nothing twice, nothing held."""
    assert "slack" in PERSONALITIES
    wanted = [Trial(point(name), "slack", point(name).passes[0], 4, 2) for name in KILLED_AT]
    results = asyncio.run(run_all(wanted, 3, tell=False))
    assert [(each.trial.name, each.wrong, each.held, each.duplicated) for each in results] == [
        (trial.name, [], [], []) for trial in wanted
    ]
