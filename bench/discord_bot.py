"""A bot as people write them with discord.py: no queue, no directive, no store."""

from collections import defaultdict

import aiohttp
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

import discord
from bench.bots import Bot
from rejoinder.testing.platform.discord.world import BOT_NAME, token_of


class DiscordBot(discord.Client):
    def __init__(self, model: Bot) -> None:
        super().__init__(intents=discord.Intents.all())
        self._model = model
        self._histories: dict[int, list[dict[str, str]]] = defaultdict(list)

    async def on_message(self, message: discord.Message) -> None:
        if message.author == self.user:
            return
        history = self._histories[message.channel.id]
        history.append({"role": "user", "content": message.content})
        said = await self._model.ask(history)
        history.append({"role": "assistant", "content": said})
        await message.channel.send(said)


async def discord_bot(api: str, model: str) -> None:
    Route.BASE = f"{api}/api/v10"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"{api.replace('http', 'ws', 1)}/gateway")
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http,
        DiscordBot(Bot(http, api, model)) as bot,
    ):
        await bot.start(token_of(BOT_NAME))
