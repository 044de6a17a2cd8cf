"""The clock ticks once over all processes (SC-15)."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.session import session_home, shard_of
from rejoinder.store.base import PutJob, RequestJobRun
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import configuration, owns, serving
from tests.postgres import Server, a_database

NAMES = tuple(f"job-{number}" for number in range(8))
"""Enough for both processes to have some of them."""


def jobs(chat: str) -> str:
    said = f'every = "1h"\nprompt = "What is due?"\nchannel = "telegram"\nchat = "{chat}"\n'
    return "".join(f"[cron.{name}]\n{said}\n" for name in NAMES)


async def test_a_job_is_done_once_and_goes_on_when_its_process_is_gone(postgres: Server) -> None:
    """SC-15: eight jobs are due at once, and one more is wanted by hand: each is done once, by the owner of its
    session. When one process ends, the other does what is due next."""
    url = a_database(postgres, "four_shards")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        text = configuration(platform, "telegram", "echo") + jobs(platform.id_of("ann"))
        settings = read(text, "rejoinder.toml", {})
        agents = [ScriptedAgent(*["Nothing."] * 20, name="echo") for _ in range(2)]
        one = await stack.enter_async_context(serving(settings, {"echo": agents[0]}, url))
        async with serving(settings, {"echo": agents[1]}, url) as other:
            await until(lambda: owns(one, 2) and owns(other, 2))
            await _come_due(one)
            await until(lambda: sum(len(agent.turns) for agent in agents) == len(NAMES))
            assert all(agent.turns for agent in agents), "both have some of them"
            for gateway, agent in ((one, agents[0]), (other, agents[1])):
                homes = {shard_of(session_home(turn.session), 4) for turn in agent.turns}
                assert all(gateway.engines.of(shard) is not None for shard in homes)
            await one.store.write(RequestJobRun(NAMES[0]))
            await until(lambda: sum(len(agent.turns) for agent in agents) == len(NAMES) + 1)
            await _two_looks(one)
            assert sum(len(agent.turns) for agent in agents) == len(NAMES) + 1
        await until(lambda: owns(one, 4))
        before = len(agents[0].turns)
        await _come_due(one)
        await until(lambda: len(agents[0].turns) == before + len(NAMES))


async def _come_due(gateway: Gateway) -> None:
    """As soon as all have been scheduled and the last turns have ended."""

    async def is_ready() -> bool:
        kept = await gateway.store.jobs()
        return len(kept) == len(NAMES) and all(each.due is not None and not each.is_open for each in kept)

    await until(is_ready)
    kept = {each.name: each for each in await gateway.store.jobs()}
    for name in NAMES:
        await gateway.store.write(
            PutJob(name, kept[name].schedule, gateway._opened.process.clock() - timedelta(seconds=1))
        )


async def _two_looks(gateway: Gateway) -> None:
    looks: list[None] = []
    gateway.cluster_member.tell(lambda: looks.append(None))
    await until(lambda: len(looks) > 2)
