"""What is on one machine and not on another: programs of agents, and files of their sessions (SC-7)."""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from rejoinder.config.load import read
from rejoinder.session import shard_of
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import configuration, owns, serving
from tests.cluster.several import LEASE
from tests.postgres import Server, a_database, database_of

PROGRAM = "from rejoinder.cli import main; main()"
CONFIG = """
[gateway]
store = "{url}"
lease_seconds = {lease}

[agents.coder]
kind = "acp"
command = ["coder-that-is-not-installed"]

[channels.telegram]
{here}
agent = "coder"
"""
MISSING = "agents.coder: there is no program coder-that-is-not-installed on the PATH"


class Bound(ScriptedAgent):
    """Keeps its sessions on its machine."""

    def is_bound(self) -> bool:
        return True

    def lose_session(self, session: str, saved: str) -> None:
        """It has no files to lose."""


async def start(folder: Path, command: str, config: str) -> asyncio.subprocess.Process:
    (folder / "rejoinder.toml").write_text(config)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, command),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


async def test_who_lacks_a_program_claims_no_chat(tmp_path: Path, postgres: Server) -> None:
    """SC-7: `rejoinder run` says so, listens and stores what arrives, and leaves every shard to others."""
    url = a_database(postgres, "four_shards")
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        process = await start(tmp_path, "run", CONFIG.format(url=url, lease=LEASE, here=platform.config()))
        try:
            await platform.says("ann", "ann", "hello")
            rows = "SELECT 1 FROM inbox WHERE state = 'new'"
            await until(lambda: postgres.execute(rows, database_of(url)))
            assert postgres.execute("SELECT claims FROM process", database_of(url)) == [(0,)]
            assert postgres.execute("SELECT 1 FROM shard WHERE holder IS NOT NULL", database_of(url)) == []
        finally:
            process.terminate()
            said, _ = await process.communicate()
    told = " ".join(said.decode().split())
    assert MISSING in told
    assert "This process listens and serves pages; processes that have all agents do the answering." in told


async def test_a_worker_that_lacks_a_program_does_not_start(tmp_path: Path, postgres: Server) -> None:
    """SC-7: it could do nothing; the sentence says what to install."""
    url = a_database(postgres, "four_shards")
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        process = await start(tmp_path, "worker", CONFIG.format(url=url, lease=LEASE, here=platform.config()))
        said, _ = await process.communicate()
    told = " ".join(said.decode().split())
    assert process.returncode == 2
    assert f"rejoinder: a worker needs the programs of all agents; {MISSING}" in told
    assert "Traceback" not in told
    assert postgres.execute("SELECT 1 FROM process", database_of(url)) == []


@pytest.mark.parametrize("bound", [True, False])
async def test_chats_with_sessions_on_this_machine_stay(postgres: Server, bound: bool) -> None:
    """SC-7: when another process joins, the shards in which nobody has talked to a bound agent go there."""
    url, agent = a_database(postgres, "four_shards"), (Bound if bound else ScriptedAgent)("Hello.", name="echo")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        text = configuration(platform, "telegram", "echo").replace("owners =", "dm = 'open'\nowners =")
        settings = read(text, "rejoinder.toml", {})
        people = (f"person-{number}" for number in range(40))
        last = next(each for each in people if shard_of(f"telegram:default:{platform.id_of(each)}", 4) == 3)
        first = await stack.enter_async_context(serving(settings, {"echo": agent}, url))
        await until(lambda: owns(first, 4))
        await platform.says(last, last, "hello")
        await platform.hears(last, "Hello.")
        await stack.enter_async_context(serving(settings, {"echo": Bound(name="echo")}, url))
        await until(lambda: owns(first, 2))
        assert (first.engines.of(3) is not None) is bound
