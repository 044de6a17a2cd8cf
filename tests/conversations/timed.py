"""A gateway with jobs of the clock, on a clock that goes when it is told to."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from rejoinder.agents.base import Agent
from rejoinder.app import Gateway, with_channel
from rejoinder.config.jobs import CronJob, HeartbeatSettings
from rejoinder.config.schema import ConfiguredAgent as Configured
from rejoinder.config.schema import Settings
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import StoredJob
from rejoinder.testing import FakeChannel
from rejoinder.testing.chat import Chat
from rejoinder.testing.patience import PATIENCE

MORNING = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
ROOM = {"channel": "fake", "chat": "room"}


class Clock:
    def __init__(self, now: datetime = MORNING) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


class Days:
    """Gateways come and go; the store, the chat and the clock stay."""

    def __init__(self, folder: Path, settings: Settings, clock: Clock | None = None) -> None:
        self.url = f"sqlite:{folder / 'rejoinder.db'}"
        self.settings = settings
        self.clock = clock or Clock()
        self.channel = FakeChannel()
        self.chat = Chat(self.channel, Tasks())
        self._gateway: Gateway | None = None

    @asynccontextmanager
    async def running(self, *agents: Agent) -> AsyncGenerator[Gateway]:
        settings = with_channel(self.settings, "fake", agents[0].name, ("ann",))
        named = {agent.name: agent for agent in agents}
        opened = Gateway(settings, agents=named, channels=[self.channel], store=self.url, clock=self.clock)
        async with opened as gateway, asyncio.timeout(2 * PATIENCE):
            gateway.tasks.start("serve", gateway.serve())
            self._gateway = gateway
            await self.channel.until(lambda: self.channel.listens)
            yield gateway
            await self.rests()

    def pass_by(self, **time: float) -> None:
        """So much later the gateway looks at the clock, as it would by itself."""
        self.clock.now += timedelta(**time)
        self.look()

    def look(self) -> None:
        assert self._gateway is not None
        assert self._gateway.scheduler is not None
        self._gateway.scheduler.changed()

    async def job(self, holds: Callable[[StoredJob], bool], name: str = "") -> StoredJob:
        """The job, once this is so."""
        assert self._gateway is not None
        async with asyncio.timeout(PATIENCE):
            while True:
                for job in await self._gateway.store.jobs():
                    if name in ("", job.name) and holds(job):
                        return job

    async def known(self, name: str = "") -> StoredJob:
        return await self.job(lambda job: bool(job.schedule), name)

    async def rests(self) -> None:
        """Every turn has come to its end."""
        assert self._gateway is not None
        while (await self._gateway.store.count_rows()).runs or self._gateway.engine.lanes.running:
            continue

    @property
    def said(self) -> list[str]:
        return [message.text for message in self.channel.messages.values() if message.author == "bot"]


def with_jobs(**jobs: CronJob) -> Settings:
    return Settings(cron=jobs)


def a_job(prompt: str = "Look after things.", **more: str) -> CronJob:
    return CronJob(**{"prompt": prompt, **ROOM, **more})  # type: ignore[arg-type]


def with_heartbeat(agent: str = "scripted", defaults: HeartbeatSettings | None = None, **said: object) -> Settings:
    beats = HeartbeatSettings(**{**ROOM, **said})  # type: ignore[arg-type]
    settings = Settings(agents={agent: Configured("scripted", None, beats)})
    if defaults is not None:
        settings = replace(settings, agent_defaults=replace(settings.agent_defaults, heartbeat=defaults))
    return settings
