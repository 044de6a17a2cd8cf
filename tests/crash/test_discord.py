"""A burst on Discord: many messages in many channels, a new connection in the middle, a kill and a restart."""

import asyncio

from rejoinder.testing import FakePlatform
from rejoinder.testing.platform import oracles
from tests.crash.agent import marks_of
from tests.crash.gateway import Machine
from tests.crash.points import PERSONALITIES, point
from tests.crash.suite import run_all
from tests.crash.trial import PATIENCE, Trial, until_done

MESSAGES, CHANNELS = 200, 20
KILLED_AT = ("K2", "K11", "K17", "K18")


async def test_a_burst_with_a_reconnect_and_a_kill(tmp_path):
    """CH-20, CH-28: 200 messages in 20 channels; Discord asks for a new connection, then the process is killed and
    started again: every message is answered, once, in its channel, in order."""
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("discord") as platform:
        chats = [f"#c{number}" for number in range(CHANNELS)]
        for chat in chats:
            platform.people.world.room(chat)
        here = platform.config() + 'pace = { chat = "unlimited", account = "unlimited" }\n'
        machine = Machine(tmp_path, "discord", here, on_unknown="hold", mode="followup", debounce_ms=0, drafts=False)
        expected: dict[str, list[str]] = {}
        try:
            await machine.start()
            for number in range(MESSAGES):
                if number == MESSAGES // 3:
                    platform.people.gateway.ask_to_reconnect()
                chat = chats[number % CHANNELS]
                await platform.says(chat, "ann", f"q{number * 4 + 3}. What is it?")
                expected.setdefault(chat, []).extend(marks_of(number * 4 + 3))
            await platform.truth.until(lambda: len(platform.truth.messages()) > MESSAGES // 4, PATIENCE)
            await machine.kill()
            await machine.start()
            await until_done(machine, MESSAGES)
        finally:
            await machine.kill()
        names = [call.name for call in platform.truth.calls if call.verb == "poll" and call.name != "CLOSED"]
        assert names[0] == "IDENTIFY"
        assert names.count("RESUME") >= 2
        verdict = oracles.judge(platform.truth.frames, expected, "discord")
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
