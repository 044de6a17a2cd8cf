"""A gateway whose owner changes its settings from the chat."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from rejoinder.app import MEMORY, Gateway
from rejoinder.programs.reloading import Reloading, SettingsSource
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing import FakeMessenger, ScriptedAgent
from rejoinder.testing.chat import Chat


@asynccontextmanager
async def owned(
    source: SettingsSource, attach: Callable[[Gateway, SettingsSource], object]
) -> AsyncGenerator[tuple[Chat, Reloading]]:
    """A gateway, its file, and its owner who chats with it."""
    channel, agent = FakeMessenger("telegram"), ScriptedAgent(*(f"{number}." for number in range(9)))
    gateway = Gateway(source.read(), agents={"scripted": agent}, channels=[channel], store=MEMORY)
    async with Tasks() as tasks, gateway:
        attach(gateway, source)
        tasks.start("gateway", gateway.serve())
        chat = Chat(channel, tasks, gateway)
        yield chat, Reloading(gateway, source)
        await chat.ends()
