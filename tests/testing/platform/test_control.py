"""The platform as a program of its own: it is started, spoken to, and ended."""

import asyncio
import signal
import sys

import pytest

from rejoinder.testing import RemotePlatform
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform.telegram.world import person_id


@pytest.fixture
async def remote():
    command = [sys.executable, "-m", "rejoinder.testing.platform", "telegram", "--seed", "3"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(2 * PATIENCE):
        url = (await process.stdout.readline()).decode().strip()
        async with RemotePlatform(url) as remote:
            yield remote
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_it_outlives_its_gateways(remote):
    """DU-22: what people did and saw is told to whoever asks, whatever became of the gateway."""
    message = await remote.says("ann", "ann", "hello", pictures=2)
    frames = await remote.frames()
    assert [(frame.chat, frame.by, frame.text) for frame in frames] == [("ann", "ann", "hello"), ("ann", "ann", "")]
    assert frames[0].message == message
    assert await remote.frames(since=1) == frames[1:]
    assert await remote.id_of("ann") == str(person_id("ann"))
    assert f'api_root = "{remote.url}"' in await remote.config()


async def test_faults_are_told_from_outside(remote):
    await remote.fault("5xx", on="other")
    async with remote._session.post(f"{remote.url}/bot1:x/getMe") as answer:
        assert answer.status == 401
    config = dict(line.split(" = ") for line in (await remote.config()).splitlines())
    token = config["token"].strip('"')
    statuses = []
    for _ in range(2):
        async with remote._session.post(f"{remote.url}/bot{token}/getMe") as answer:
            statuses.append(answer.status)
    assert statuses == [502, 200]
    assert [call.status for call in await remote.calls()] == [401, 502, 200]
