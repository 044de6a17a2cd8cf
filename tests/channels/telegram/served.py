"""A bot that serves a fake Telegram, in a hurry."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from rejoinder.channels.telegram.api import Api
from rejoinder.channels.telegram.bot import TelegramBot
from rejoinder.channels.telegram.retrying import Timings
from rejoinder.channels.telegram.webhook import WebhookAddress
from rejoinder.secret import Secret
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.platform.telegram.world import TOKEN
from rejoinder.testing.ports import free_port

QUICK = Timings(
    long_poll=5, first_pause=0.02, longest_pause=0.05, after_conflict=0.05, quiet_album=0.1, longest_album=1.0
)


def bot(
    platform: FakePlatform, *, token: str = TOKEN, hook: WebhookAddress | None = None, seconds: float = 5.0
) -> TelegramBot:
    return TelegramBot("telegram", Api(platform.url, Secret(token), seconds), hook, QUICK)


def hook() -> WebhookAddress:
    port = free_port()
    return WebhookAddress(f"http://127.0.0.1:{port}/telegram", "127.0.0.1", port)


@asynccontextmanager
async def listening(channel: TelegramBot, inlet: RecordingInlet) -> AsyncIterator[TelegramBot]:
    task = asyncio.create_task(channel.listen(inlet))
    try:
        yield channel
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await channel.close()
