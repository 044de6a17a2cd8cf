"""Commands that an owner runs beside the gateway (IN-61)."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rejoinder.runtime.place.shell import MOST_KEPT, MOST_SAID, WITH_THE_GATEWAY, Shell, ShellResult, told
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing.patience import PATIENCE


@pytest.mark.parametrize(
    ("ran", "said"),
    [
        (ShellResult(b"", 0), "It wrote nothing."),
        (ShellResult(b"one\ntwo\n", 8), "```\none\ntwo\n```"),
        (ShellResult(b"a\tb\r\n", 5), "```\na       b\n```"),
        (ShellResult(b"\x1b[31mred\x1b[0m\x07\n", 14), "```\nred\n```"),
        (ShellResult(b"```\n", 4), "````\n```\n````"),
        (ShellResult(b"\xff\n", 2), "```\n�\n```"),
        (ShellResult(b"", 0, "It exited with status 1."), "It exited with status 1."),
        (ShellResult(b"no\n", 3, "It exited with status 1."), "```\nno\n```\n\nIt exited with status 1."),
        (ShellResult(b"x" * 4000, 4000), f"The end of 4,000 bytes:\n\n```\n{'x' * MOST_SAID}\n```"),
        (ShellResult(b"x", 10 * MOST_KEPT), "The end of 655,360 bytes:\n\n```\nx\n```"),
    ],
)
def test_what_is_said_of_it(ran, said):
    """As code, the end of what is long, nothing that moves a cursor, and how it ended where not well."""
    assert told(ran) == said


class Ear:
    """Hears what is said in a conversation."""

    def __init__(self):
        self._said = asyncio.Queue()

    async def send(self, text):
        self._said.put_nowait(text)

    async def hears(self):
        return await self._said.get()


@asynccontextmanager
async def shell(seconds=20.0):
    async with asyncio.timeout(PATIENCE), Tasks() as tasks:
        yield Shell(tasks, seconds), Ear()


def run(shell, command, ear):
    performed = shell.perform(command, ear)
    performed.then()
    return performed.says


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo hello", "```\nhello\n```"),
        ("echo out; echo err >&2", "```\nout\nerr\n```"),
        ("exit 3", "It exited with status 3."),
        ("kill -9 $$", "It was killed by SIGKILL."),
        ("true", "It wrote nothing."),
        ("cat", "It wrote nothing."),
        ("echo \0", "It could not be started: embedded null byte."),
        ("(sleep 300; echo late) & echo now", "```\nnow\n```"),
    ],
)
async def test_a_command_is_run(command, said):
    """Both its outputs, no input; what it leaves behind is not waited for."""
    async with shell() as (it, ear):
        run(it, command, ear)
        assert await ear.hears() == said


async def test_it_sees_no_secret_of_ours(monkeypatch):
    monkeypatch.setenv("BOT_TOKEN", "canary")
    async with shell() as (it, ear):
        run(it, "env", ear)
        said = await ear.hears()
    assert "PATH=" in said
    assert "canary" not in said


async def test_what_is_written_without_end_is_not_kept():
    async with shell() as (it, ear):
        run(it, "head -c 5000000 /dev/zero | tr '\\0' x", ear)
        said = await ear.hears()
    assert said == f"The end of 5,000,000 bytes:\n\n```\n{'x' * MOST_SAID}\n```"


def is_alive(pid: str) -> bool:
    """One that is dead and not yet fetched is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("command", ["sleep 300 & echo $!; wait", "sleep 300 & echo $!"])
async def test_nothing_of_it_is_left(command):
    """Neither when its time is over nor when it is over itself."""
    async with shell(seconds=1.0) as (it, ear):
        run(it, command, ear)
        said = await ear.hears()
        assert said.endswith("It was ended after 1 seconds.") is ("wait" in command)
        pid = said.splitlines()[1]
        while await asyncio.to_thread(is_alive, pid):
            pass


async def test_one_at_a_time_and_none_outlives_the_gateway():
    async with shell() as (it, ear):
        assert run(it, "sleep 300", ear) is None
        assert run(it, "echo no", ear) == "A command is already running; it has 20 seconds in all."
        await it.stop()
        assert await ear.hears() == WITH_THE_GATEWAY
        assert run(it, "echo yes", ear) is None
        assert await ear.hears() == "```\nyes\n```"
        await it.stop()
