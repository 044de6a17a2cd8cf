"""A turn whose chat is in another shard than its session: that of a job, in somebody's chat (SC-1, SC-15)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from rejoinder.agents.base import Agent
from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.events import Route
from rejoinder.runtime.session.background import Background
from rejoinder.session import job_key, route_home, session_home, shard_of
from rejoinder.store.base import RequestJobRun
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from rejoinder.turns.heartbeat import heartbeat_of
from tests.cluster.beside import configuration, owns, serving
from tests.cluster.test_from_anywhere import Long, said
from tests.conversations.agents import Asking, told
from tests.postgres import Server, a_database

SHARDS = 4


class Homes:
    """One process with four shards; `job` is a job whose session is in another shard than the chat it speaks in."""

    def __init__(self, platform: FakePlatform, gateway: Gateway, agent: str, session: str, job: str) -> None:
        self.platform = platform
        self.gateway = gateway
        self.agent = agent
        self.session = session
        self.job = job

    @property
    def chat(self) -> Route:
        return Route("telegram", self.platform.id_of("ann"))

    async def runs(self) -> None:
        await self.gateway.store.write(RequestJobRun(self.job))

    async def begins(self, id: str, text: str, answerable: tuple[str, ...] = ()) -> None:
        """Another turn of the session of the job."""
        turn = Background(
            id=id, agent=self.agent, session=self.session, text=text, target=self.chat, answerable=answerable
        )
        await self.gateway.begin(turn)


@asynccontextmanager
async def two_homes(postgres: Server, agent: Agent, *, heartbeat: bool = False) -> AsyncIterator[Homes]:
    url = a_database(postgres, "four_shards")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        ann = platform.id_of("ann")
        here = shard_of(route_home(Route("telegram", ann)), SHARDS)
        names = (f"job-{number}" for number in range(50))
        keys = ((name, job_key(agent.name, name)) for name in names)
        job, session = next((name, key) for name, key in keys if shard_of(session_home(key), SHARDS) != here)
        text = configuration(platform, "telegram", agent.name)
        about = f'every = "1h"\nprompt = "Look."\nchannel = "telegram"\nchat = "{ann}"\n'
        if heartbeat:
            job, text = (
                heartbeat_of(agent.name),
                f'{text}[agents.{agent.name}.heartbeat]\nsession = "{session}"\n{about}',
            )
        else:
            text += f"[cron.{job}]\n{about}"
        settings = read(text, "rejoinder.toml", {})
        gateway = await stack.enter_async_context(serving(settings, {agent.name: agent}, url))
        await until(lambda: owns(gateway, SHARDS))

        async def is_scheduled() -> bool:
            return any(each.due is not None for each in await gateway.store.jobs())

        await until(is_scheduled)
        await platform.says("ann", "ann", "/whoami")
        await platform.hears("ann")
        yield Homes(platform, gateway, agent.name, session, job)


async def test_it_is_stopped_from_the_chat(postgres: Server) -> None:
    """SC-15: /stop reaches the owner of every session that works for the chat."""
    agent = Long()
    async with two_homes(postgres, agent) as homes:
        await homes.runs()
        await until(lambda: agent.turns)
        await homes.platform.says("ann", "ann", "/stop")
        await agent.stopped.wait()
        await homes.platform.hears("ann", "Agent was aborted.")
        await homes.platform.says("ann", "ann", "/stop")
        await homes.platform.hears("ann", "Nothing is running.")


@pytest.mark.parametrize("by", ["button", "words"])
async def test_its_question_is_answered_in_the_chat(postgres: Server, by: str) -> None:
    """SC-15, TU-34: by a button or by words, and the question says so."""
    agent = Asking()
    async with two_homes(postgres, agent) as homes:
        platform = homes.platform
        await homes.begins("t1", "Clean up.", answerable=(platform.id_of("ann"),))
        asked = await platform.hears("ann")
        assert "May I delete it all?" in asked.text
        if by == "button":
            await platform.presses("ann", "ann", asked.id, "Allow once")
        else:
            await _is_shown(homes)
            await platform.says("ann", "ann", "yes")
        await said(platform, "I was told allow-once.")
        await said(platform, "May I delete it all?\n\nAllowed")


async def _is_shown(homes: Homes) -> None:
    """The owner of the chat knows that somebody is asked there."""
    engine = homes.gateway.engines.of(shard_of(route_home(homes.chat), SHARDS))
    assert engine is not None
    await until(lambda: engine.turn_runner.questions.waiting_for(homes.chat.chat, homes.chat) is not None)


async def test_its_agent_hears_what_became_of_its_words(postgres: Server) -> None:
    """SC-1: the turn is over when they are planned; what they came to is told with the next one."""
    agent = ScriptedAgent("The disk is full.", "All right.")
    async with two_homes(postgres, agent) as homes:
        homes.platform.fault("403")
        await homes.runs()

        async def is_told() -> bool:
            kept = await homes.gateway.store.session(homes.session)
            return kept is not None and bool(kept.session.system_events)

        await until(is_told)
        await homes.begins("t2", "And now?")
        await until(lambda: len(agent.turns) == 2)
        assert f"What you said to telegram {homes.chat.chat} was not delivered" in told(agent.turns[-1])


async def test_a_heartbeat_does_not_speak_while_somebody_talks_there(postgres: Server) -> None:
    """TU-26, SC-1: also if that is another home."""
    agent = Long()
    async with two_homes(postgres, agent, heartbeat=True) as homes:
        await homes.platform.says("ann", "ann", "Look it up.")
        await until(lambda: agent.turns)
        await homes.runs()

        async def is_passed() -> bool:
            (kept,) = await homes.gateway.store.jobs()
            return kept.passed is not None and kept.reason == "somebody is talking to the agent"

        await until(is_passed)
        await homes.platform.says("ann", "ann", "/stop")
        await agent.stopped.wait()
