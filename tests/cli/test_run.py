"""`rejoinder run` on a configured channel: a process of its own, against a platform in this one."""

import asyncio
import signal
import sys

import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from rejoinder.config.kinds import channel_kinds
from rejoinder.testing import FakePlatform
from rejoinder.testing.patience import PATIENCE

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
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        process = await start(tmp_path, CONFIG.format(here=platform.config(), owner=platform.id_of("ann")))
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello from the process.")
        process.send_signal(number)
        _, told = await process.communicate()
        assert process.returncode == status, told.decode()
        assert "serving @testbot" in told.decode()
        assert "Traceback" not in told.decode()


async def test_a_wrong_token_is_one_sentence(tmp_path):
    """The error is the help: no traceback, exit status 1."""
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        here = platform.config().replace('token = "7', 'token = "8')
        process = await start(tmp_path, CONFIG.format(here=here, owner="1"))
        _, told = await process.communicate()
        assert process.returncode == 1
        assert "Copy the token from @BotFather" in told.decode()
        assert "Traceback" not in told.decode()


TO_COME = """[gateway]
store = "postgresql://ann:canary@127.0.0.1:1/chat"
[agents.tour]
kind = "tour"
[channels.whatsapp]
phone_number_id = "1"
app_secret = "x"
verify_token = "x"
access_token = "x"
[channels.work]
kind = "matrix"
homeserver = "https://matrix.org"
user = "@bot:matrix.org"
access_token = "x"
"""
THERE = ", ".join(name for name, kind in channel_kinds().items() if kind.open and kind.opened_by != "command")
TOLD = """\
{file}:5: channels.whatsapp: the channel whatsapp does not exist yet; remove this section (there are: {there})
{file}:10: channels.work: the channel matrix does not exist yet; remove this section (there are: {there})
"""


async def test_what_is_not_there_yet_is_told(tmp_path):
    """All of it at once, with line and key: nothing is started, and no password is shown."""
    process = await start(tmp_path, TO_COME)
    _, told = await process.communicate()
    assert process.returncode == 2
    assert told.decode() == "rejoinder: " + TOLD.format(file=tmp_path / "rejoinder.toml", there=THERE)


def test_who_checks_a_configuration_is_told_too(tmp_path):
    """It can be read, so that one may prepare it; that it cannot be run yet stands beside it."""
    file = tmp_path / "rejoinder.toml"
    file.write_text(TO_COME)
    checked = CliRunner().invoke(app, ["config", "-c", str(file)])
    assert checked.exit_code == 0
    assert checked.stderr == "rejoinder: " + TOLD.format(file=file, there=THERE)
    assert "canary" not in checked.output


@pytest.mark.parametrize("command", [["sessions"], ["dead"], ["pair"], ["explain", "last"], ["export", "x"]])
def test_a_database_that_is_away_is_a_sentence(tmp_path, command):
    """SC-22: for every command that looks something up, and without the password."""
    file = tmp_path / "rejoinder.toml"
    file.write_text(TO_COME)
    asked = CliRunner().invoke(app, [*command, "-c", str(file)])
    assert asked.exit_code == 1
    assert "The store postgresql://ann@127.0.0.1:1/chat is unavailable" in asked.stderr
    assert "canary" not in asked.output + asked.stderr
