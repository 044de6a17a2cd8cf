"""`rejoinder run` on a configured channel: a process of its own, against a platform in this one."""

import asyncio
import signal
import sys

import pytest

from rejoinder.testing import FakePlatform

CONFIG = """
[gateway]
store = "sqlite::memory:"

[agents.scripted]
kind = "scripted"
script = "answers.json"

[channels.telegram]
{here}
owners = ["{owner}"]
"""


async def start(tmp_path, text):
    file = tmp_path / "rejoinder.toml"
    file.write_text(text)
    (tmp_path / "answers.json").write_text('["Hello from the process."]')
    program = "from rejoinder.cli import main; main()"
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, "run", "-c", str(file)), stderr=asyncio.subprocess.PIPE, cwd=tmp_path
    )


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_it_serves_until_it_is_told_to_end(tmp_path, number, status):
    async with asyncio.timeout(30), FakePlatform("telegram") as platform:
        process = await start(tmp_path, CONFIG.format(here=platform.config(), owner=platform.id_of("ann")))
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello from the process.", seconds=20)
        process.send_signal(number)
        _, told = await process.communicate()
        assert process.returncode == status, told.decode()
        assert "serving @testbot" in told.decode()
        assert "Traceback" not in told.decode()


async def test_a_wrong_token_is_one_sentence(tmp_path):
    """The error is the help: no traceback, exit status 1."""
    async with asyncio.timeout(30), FakePlatform("telegram") as platform:
        here = platform.config().replace('token = "7', 'token = "8')
        process = await start(tmp_path, CONFIG.format(here=here, owner="1"))
        _, told = await process.communicate()
        assert process.returncode == 1
        assert "Take the token from @BotFather" in told.decode()
        assert "Traceback" not in told.decode()


async def test_a_channel_that_is_not_there_yet_is_told(tmp_path):
    process = await start(tmp_path, '[channels.discord]\ntoken = "x"\n[agents.tour]\nkind = "tour"\n')
    _, told = await process.communicate()
    assert process.returncode == 2
    assert "channels.discord: the channel discord is not written yet; there are: telegram, web" in told.decode()
