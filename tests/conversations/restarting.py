"""A gateway on a store in a file, for conversations with a restart in the middle."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from rejoinder.agents.base import Agent
from rejoinder.app import Gateway, with_channel
from rejoinder.config.schema import Settings
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import RowCounts
from rejoinder.testing import Chat, FakeChannel, FakeMessenger
from rejoinder.testing.patience import PATIENCE


class Machine:
    """Where gateways come and go. The platform stays, and with it what people see."""

    def __init__(self, folder: Path, settings: Settings | None = None, channel: FakeMessenger | None = None) -> None:
        self.url = f"sqlite:{folder / 'rejoinder.db'}"
        self.channel = channel or FakeChannel()
        self.chat = Chat(self.channel, Tasks())
        self.settings = settings or Settings()

    @asynccontextmanager
    async def running(self, agent: Agent, *, killed: bool = False) -> AsyncGenerator[Gateway]:
        """One process. `killed`: it ends as by kill -9, with nothing said, written or given back any more."""
        settings = with_channel(self.settings, self.channel.name, agent.name, ("ann",))
        async with Gateway(settings, agents={agent.name: agent}, channels=[self.channel], store=self.url) as gateway:
            gateway.tasks.start("serve", gateway.serve())
            try:
                async with asyncio.timeout(PATIENCE):
                    await self.channel.until(lambda: self.channel.listens)
                    yield gateway
                    if not killed:
                        await settled(gateway)
            finally:
                if killed:
                    await gateway.store.close()
                    await gateway.tasks.close()


async def until(gateway: Gateway, holds: Callable[[RowCounts], bool]) -> None:
    """The store has come so far."""
    while not holds(await gateway.store.count_rows()):
        continue


async def settled(gateway: Gateway) -> None:
    """Every turn that was begun has come to its end."""
    await until(gateway, lambda census: not census.runs and not gateway.engine.lanes.running)
