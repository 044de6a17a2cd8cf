"""What a process does not know, another one on the same store may know: it is left, never dropped (SC-25)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

import pytest

from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.events import Route
from rejoinder.store.base import PartIntent, PlanParts, PutJob
from rejoinder.store.sql.values import seal
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import configuration, owns, serving
from tests.postgres import Server, a_database, database_of

OTHER_FORM = seal(b"\xc1 a form of its own").hex()
JOBS = """
[cron.here]
every = "1h"
prompt = "look"
agent = "{agent}"
"""


class Place:
    """One store on which gateways with other agents come and go."""

    def __init__(self, server: Server, platform: FakePlatform) -> None:
        self._server = server
        self._url = a_database(server, "one_shard")
        self.platform = platform

    @asynccontextmanager
    async def gateway(self, agent: ScriptedAgent, more: str = "") -> AsyncIterator[Gateway]:
        settings = read(configuration(self.platform, "telegram", agent.name) + more, "rejoinder.toml", {})
        async with serving(settings, {agent.name: agent}, self._url) as gateway:
            await until(lambda: owns(gateway, 1))
            yield gateway

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return self._server.execute(sql, database_of(self._url))

    async def leave_work(self, agent: str) -> None:
        """A turn under way and a message that waits behind it, when its gateway ends."""
        async with self.gateway(ScriptedAgent([asyncio.Event().wait], name=agent)):
            await self.platform.says("ann", "ann", "first")
            await until(lambda: self.rows("SELECT 1 FROM turn WHERE state = 'open'"))
            await self.platform.says("ann", "ann", "second")
            await until(lambda: self.rows("SELECT 1 FROM turn_input WHERE state = 'waiting'"))


@asynccontextmanager
async def place(server: Server) -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        yield Place(server, await stack.enter_async_context(FakePlatform("telegram")))


async def test_what_an_unknown_agent_was_asked_waits(postgres: Server, caplog: pytest.LogCaptureFixture) -> None:
    """SC-25: its turn under way, and what waits behind it: a process without that agent answers others meanwhile."""
    async with place(postgres) as here:
        await here.leave_work("echo")
        async with here.gateway(ScriptedAgent("Another.", name="mirror")):
            assert "is left to other processes: its channel or its agent is no longer configured" in caplog.text
            await here.platform.says("ann", "ann", "hello")
            await here.platform.hears("ann", "Another.")
        async with here.gateway(ScriptedAgent("One.", "Two.", name="echo")):
            await here.platform.hears("ann", "One.")
            await here.platform.hears("ann", "Two.")


@pytest.mark.parametrize("table", ["inbox", "turn_input"])
async def test_a_form_of_another_version_waits(postgres: Server, table: str) -> None:
    """SC-25: a whole row that cannot be read here is not quarantined: who can read it answers it."""
    async with place(postgres) as here:
        await here.leave_work("echo")
        here.rows(f"CREATE TABLE known AS SELECT * FROM {table}")
        here.rows(f"UPDATE {table} SET body = '\\x{OTHER_FORM}'")
        async with here.gateway(ScriptedAgent(name="echo")):
            assert here.rows("SELECT state FROM turn") == [("open",)]
            assert not here.rows("SELECT 1 FROM turn_input WHERE state = 'dropped'")
            assert not here.rows("SELECT 1 FROM inbox WHERE state = 'dead'")
        key = "id" if table == "inbox" else "event"
        here.rows(f"UPDATE {table} SET body = known.body FROM known WHERE known.{key} = {table}.{key}")
        async with here.gateway(ScriptedAgent("One.", "Two.", name="echo")):
            await here.platform.hears("ann", "One.")
            await here.platform.hears("ann", "Two.")


async def test_a_part_of_another_version_waits(postgres: Server) -> None:
    """SC-25: it is not given up, and goes out when it is known how."""
    async with place(postgres) as here, here.gateway(ScriptedAgent("Hello.", name="echo")) as gateway:
        await here.platform.says("ann", "ann", "hello")
        await here.platform.hears("ann", "Hello.")
        route = Route("telegram", here.platform.id_of("ann"))
        part = PartIntent("later", route, b'{"type": "of-tomorrow"}', "tomorrow")
        await gateway.store.write(PlanParts((part,), datetime.now(UTC)))
        gateway.engines.changed()
        await until(lambda: here.rows("SELECT 1 FROM part WHERE key = 'later' AND error LIKE 'left to other%'"))
        assert here.rows("SELECT state, attempts FROM part WHERE key = 'later'") == [("retry", 0)]


async def test_a_job_of_others_keeps_its_time(postgres: Server) -> None:
    """SC-25: the schedule of a job that this process does not know stays as it is."""
    async with place(postgres) as here, here.gateway(ScriptedAgent(name="echo"), JOBS.format(agent="echo")) as gateway:
        due = datetime(2040, 1, 1, tzinfo=UTC)
        await gateway.store.write(PutJob("elsewhere", "1h", due))
        looks: list[None] = []
        gateway.cluster_member.tell(lambda: looks.append(None))
        await until(lambda: len(looks) > 2)
        kept = {each.name: each for each in await gateway.store.jobs()}
        assert (kept["elsewhere"].schedule, kept["elsewhere"].due) == ("1h", due)
        assert kept["here"].due is not None
