"""Two bots of discord.py: one as people write them, without queue, directive or store, and one that loses nothing."""

import asyncio
from collections import defaultdict

import aiohttp
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

import discord
from bench.bots import Bot
from bench.kept_messages import History, KeptMessages, Key
from rejoinder.testing.platform.discord.world import BOT_NAME, token_of


class DiscordBot(discord.Client):
    def __init__(self, model: Bot) -> None:
        super().__init__(intents=discord.Intents.all())
        self._model = model
        self._histories: dict[int, History] = defaultdict(list)

    async def on_message(self, message: discord.Message) -> None:
        if message.author == self.user:
            return
        history = self._histories[message.channel.id]
        history.append({"role": "user", "content": message.content})
        said = await self._model.ask(history)
        history.append({"role": "assistant", "content": said})
        await message.channel.send(said)


class DurableDiscordBot(discord.Client):
    def __init__(self, model: Bot, folder: str, tasks: asyncio.TaskGroup) -> None:
        super().__init__(intents=discord.Intents.all())
        self._kept = KeptMessages(folder, tasks, model.ask, self._post)
        self._places: dict[int, discord.abc.Messageable] = {}

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user:
            self._places[message.channel.id] = message.channel
            await self._kept.received([(message.id, message.channel.id, message.content)])

    async def _post(self, channel: int, text: str) -> Key:
        return (await self._places[channel].send(text)).id


async def discord_bot(api: str, model: str, folder: str | None = None) -> None:
    """With a folder it keeps its messages there."""
    Route.BASE = f"{api}/api/v10"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"{api.replace('http', 'ws', 1)}/gateway")
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http,
        asyncio.TaskGroup() as tasks,
    ):
        asking = Bot(http, api, model)
        async with DiscordBot(asking) if folder is None else DurableDiscordBot(asking, folder, tasks) as bot:
            await bot.start(token_of(BOT_NAME))
