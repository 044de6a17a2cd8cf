"""Two gateways in this process on one database, with agents that a test can watch: what arrives at the one is owned by
the other."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from rejoinder.agents.base import Agent
from rejoinder.app import Gateway
from rejoinder.config import schema
from rejoinder.config.load import read
from rejoinder.programs.serving import serve, with_page
from rejoinder.runtime.cluster_member import ProcessRole
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from rejoinder.wiring.opening import open_channels
from tests.postgres import Server, a_database

SETTINGS = """
[agents.{agent}]
kind = "scripted"
script = "answers.json"

[channels.{channel}]
{here}
owners = ["{owner}"]
allow_groups = ["{group}"]
{more}

[messages.queue]
debounce_ms = 0
"""
UNLIMITED = "pace = { chat = 'unlimited', account = 'unlimited' }"


class NoAgent(ScriptedAgent):
    """That of a process that has no turn to run."""

    async def run(self, turn):
        raise AssertionError(f"a front runs nothing, and was asked: {turn}")
        yield


def configuration(platform: FakePlatform, channel: str, agent: str, more: str = UNLIMITED) -> str:
    """Ann owns the bot; #team is a group it may take part in."""
    if channel == "discord":
        platform.people.world.room("#team")
    return SETTINGS.format(
        agent=agent,
        channel=channel,
        here=platform.config(),
        owner=platform.id_of("ann"),
        group=platform.id_of("#team"),
        more=more,
    )


@asynccontextmanager
async def serving(
    settings: schema.Settings, agents: dict[str, Agent], url: str, role: ProcessRole = "all", **more: Any
) -> AsyncIterator[Gateway]:
    """One process beside others."""
    more.setdefault("channels", open_channels(settings))
    async with Gateway(settings, agents=agents, store=url, **more) as gateway:
        task = asyncio.create_task(gateway.serve(role))
        try:
            yield gateway
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def owns(gateway: Gateway, count: int) -> bool:
    return sum(engine.is_recovered for engine in gateway.engines) == count


@asynccontextmanager
async def worker_for(made: schema.Settings, agents: dict[str, Agent]) -> AsyncIterator[None]:
    """`rejoinder worker`, of a configuration with a page."""
    task = asyncio.create_task(serve(with_page(made), lambda _: None, agents=agents, role="worker"))
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Pair:
    """`front` listens and owns nothing, `worker` owns everything and does not listen."""

    def __init__(self, url: str, text: str, platform: FakePlatform, front: Gateway, worker: Gateway) -> None:
        self.url = url
        self.text = text
        self.platform = platform
        self.front = front
        self.worker = worker


@asynccontextmanager
async def front_and_worker(
    server: Server, channel: str, agent: Agent, more: str = UNLIMITED, top: str = "", **options: Any
) -> AsyncIterator[Pair]:
    url = a_database(server, "one_shard")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform(channel, **options))
        if channel == "discord":
            await platform.people.start(platform.url)
        text = f'gateway.store = "{url}"\n{top}\n' + configuration(platform, channel, agent.name, more)
        settings = read(text, "rejoinder.toml", {})
        here = {agent.name: NoAgent(name=agent.name)}
        front = await stack.enter_async_context(serving(settings, here, url, "front"))
        worker = await stack.enter_async_context(serving(settings, {agent.name: agent}, url, "worker"))
        await until(
            lambda: owns(worker, 1) and front.cluster_member.duties.has(channel), "a share of the work for each"
        )
        yield Pair(url, text, platform, front, worker)
        assert owns(front, 0)


class Several:
    """`gateways`: each owns its share, one of them listens."""

    def __init__(self, url: str, text: str, platform: FakePlatform, gateways: list[Gateway]) -> None:
        self.url = url
        self.text = text
        self.platform = platform
        self.gateways = gateways


@asynccontextmanager
async def several(
    server: Server, channel: str, agents: Sequence[Agent], more: str = UNLIMITED, **options: Any
) -> AsyncIterator[Several]:
    """A gateway for each of these agents, all of which have the same name; each has as many of four shards."""
    url = a_database(server, "four_shards")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform(channel, **options))
        text = f'gateway.store = "{url}"\n' + configuration(platform, channel, agents[0].name, more)
        settings = read(text, "rejoinder.toml", {})
        gateways = [await stack.enter_async_context(serving(settings, {agent.name: agent}, url)) for agent in agents]
        each = 4 // len(agents)
        await until(lambda: all(owns(gateway, each) for gateway in gateways), "a share for each")
        await until(lambda: any(gateway.cluster_member.duties.has(channel) for gateway in gateways), "one that listens")
        yield Several(url, text, platform, gateways)
