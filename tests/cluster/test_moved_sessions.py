"""An agent whose sessions are files on a machine, when that machine dies and another one goes on (SC-7, TU-35)."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.truth import BOT
from tests.cluster.several import LEASE
from tests.postgres import Server, a_database, database_of

PROGRAM = "from rejoinder.cli import main; main()"
FAKE = Path(__file__).parents[1] / "agents" / "fake_acp_agent.py"
CONFIG = """
[gateway]
store = "{url}"
machine = "{machine}"
lease_seconds = {lease}

[agents.coder]
kind = "acp"
command = {command}
shared = {shared}

[channels.telegram]
{here}
agent = "coder"
dm = "open"
streaming = "off"
"""
SOMEBODY_ELSES = {"fake-1": ["a secret"]}
"""What stands on the disk of another machine under the same name."""
LOST = "coder could not load its earlier session; it continues from what the gateway stored of it."


class Machines:
    """Several machines of one configuration; each has a disk, or all have the same."""

    def __init__(self, folder: Path, server: Server, platform: FakePlatform, *, shared: bool) -> None:
        self._folder, self._server, self._platform, self._shared = folder, server, platform, shared
        self._url = a_database(server, "one_shard")

    @asynccontextmanager
    async def running(self, machine: str) -> AsyncIterator[None]:
        """Until kill -9."""
        here = self._folder / machine
        here.mkdir()
        sessions = self._folder / "sessions" if self._shared else here / "sessions"
        if not sessions.exists():
            sessions.write_text(json.dumps({} if self._shared or machine == "oak" else SOMEBODY_ELSES))
        config = CONFIG.format(
            url=self._url,
            machine=machine,
            lease=LEASE,
            command=json.dumps([sys.executable, str(FAKE), "--state", str(sessions)]),
            shared=str(self._shared).lower(),
            here=self._platform.config(),
        )
        (here / "rejoinder.toml").write_text(config)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, "run", cwd=here)
        try:
            await until(lambda: self._owner() == process.pid, f"{machine} owns the chat", 2 * PATIENCE)
            yield
        finally:
            process.kill()
            await process.wait()

    def _owner(self) -> int:
        """The process that has the one shard there is; 0: nobody."""
        rows = self._server.execute("SELECT holder FROM shard WHERE holder IS NOT NULL", database_of(self._url))
        return int(str(rows[0][0]).split(":")[1]) if rows else 0


def heard(platform: FakePlatform, words: str) -> int:
    return sum(words in seen.text for seen in platform.truth.messages("ann") if seen.by == BOT)


@pytest.mark.parametrize("shared", [False, True], ids=["a disk of its own", "a shared disk"])
async def test_a_session_goes_on_on_another_machine(tmp_path: Path, postgres: Server, shared: bool) -> None:
    """SC-7, TU-35: the machine that had it was killed. Where its files are on a shared disk, the session is loaded and
    nobody is told anything; otherwise the person is told once, and the agent is told the stored conversation."""
    async with asyncio.timeout(4 * PATIENCE), FakePlatform("telegram") as platform:
        machines = Machines(tmp_path, postgres, platform, shared=shared)
        async with machines.running("oak"):
            await platform.says("ann", "ann", "remember seven")
            await platform.hears("ann", "remember seven")
        async with machines.running("elm"):
            await platform.says("ann", "ann", "blocks")
            await platform.truth.until(lambda: heard(platform, "blocks") > 0, PATIENCE)
            await platform.says("ann", "ann", "history")
            await platform.truth.until(lambda: heard(platform, '"history"') > 0, PATIENCE)
    said = "\n".join(seen.text for seen in platform.truth.messages("ann") if seen.by == BOT)
    assert said.count(LOST) == (0 if shared else 1)
    assert ("your own memory of it is lost" in said) is not shared
    assert "a secret" not in said
    assert ('["remember seven", "blocks", "history"]' if shared else '["blocks", "history"]') in said
