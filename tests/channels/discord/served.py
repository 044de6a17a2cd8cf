"""A bot that serves a fake Discord, in a hurry."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from rejoinder.channels.discord.bot import DiscordBot
from rejoinder.channels.discord.connection import Timings
from rejoinder.channels.discord.http import SingleAttemptClient
from rejoinder.secret import Secret
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.platform.discord.world import BOT_NAME, token_of

QUICK = Timings(first_pause=0.02, longest_pause=0.05, guilds=2.0, sessions=0.02)


def bot(
    platform: FakePlatform,
    name: str = BOT_NAME,
    *,
    token: str = "",
    seconds: float = 5.0,
    pace: Timings = QUICK,
    **how,
) -> DiscordBot:
    http = SingleAttemptClient(f"{platform.url}/api", seconds)
    return DiscordBot("discord", Secret(token or token_of(name)), http, pace=pace, **how)


@asynccontextmanager
async def listening(channel: DiscordBot, inlet: RecordingInlet) -> AsyncIterator[DiscordBot]:
    task = asyncio.create_task(channel.listen(inlet))
    try:
        yield channel
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await channel.close()
