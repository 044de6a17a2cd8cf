"""The bots that bench/telegram.py, slack.py and discord.py compare, each in a process of its own.

`python -m bench.bots bare BOT_API MODEL FOLDER` is the least a Telegram bot can do, `bolt` the least with slack-bolt
(bench/bolt.py), `discord` the least with discord.py (bench/discord_bot.py); `durable`, `durable-bolt` and
`durable-discord` are the least that lose nothing.
"""

import asyncio
import sys
from collections import defaultdict
from typing import Any

import aiohttp
import msgspec

from rejoinder.agents.sse import ServerEventReader
from rejoinder.testing.platform.telegram.world import TOKEN


async def ask_model(http: aiohttp.ClientSession, model: str, history: list[dict[str, str]]) -> str:
    body = msgspec.json.encode({"model": "any", "messages": history, "stream": True})
    reader, said = ServerEventReader(), ""
    async with http.post(f"{model}/v1/chat/completions", data=body) as response:
        async for chunk in response.content.iter_any():
            for event in reader.feed(chunk):
                if event.data != "[DONE]":
                    said += msgspec.json.decode(event.data)["choices"][0]["delta"].get("content") or ""
    return said


class Bot:
    """What every bot does: call the Bot API, ask the model."""

    def __init__(self, http: aiohttp.ClientSession, api: str, model: str) -> None:
        self._http = http
        self._api = f"{api}/bot{TOKEN}"
        self._model = model

    async def ask(self, history: list[dict[str, str]]) -> str:
        return await ask_model(self._http, self._model, history)

    async def call(self, method: str, payload: dict[str, Any]) -> Any:
        body, headers = msgspec.json.encode(payload), {"Content-Type": "application/json"}
        async with self._http.post(f"{self._api}/{method}", data=body, headers=headers) as response:
            return msgspec.json.decode(await response.read())["result"]


class BareRelay(Bot):
    """No queue, no directive, no store: what is lost is lost."""

    def __init__(self, http: aiohttp.ClientSession, api: str, model: str) -> None:
        super().__init__(http, api, model)
        self._histories: dict[int, list[dict[str, str]]] = defaultdict(list)

    async def run(self) -> None:
        offset = 0
        async with asyncio.TaskGroup() as tasks:
            while True:
                question = {"offset": offset, "timeout": 30, "allowed_updates": ["message"]}
                for update in await self.call("getUpdates", question):
                    offset = update["update_id"] + 1
                    message = update["message"]
                    tasks.create_task(self._answer(message["chat"]["id"], message["text"]))

    async def _answer(self, chat: int, text: str) -> None:
        history = self._histories[chat]
        history.append({"role": "user", "content": text})
        said = await self.ask(history)
        history.append({"role": "assistant", "content": said})
        await self.call("sendMessage", {"chat_id": chat, "text": said})


async def bare_relay(api: str, model: str) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        await BareRelay(http, api, model).run()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["bare", api, model, _]:
            asyncio.run(bare_relay(api, model))
        case ["durable", api, model, folder]:
            from bench.durable_relay import durable_relay

            asyncio.run(durable_relay(api, model, folder))
        case ["discord" | "durable-discord" as bot, url, model, folder]:
            from bench.discord_bot import discord_bot

            asyncio.run(discord_bot(url, model, None if bot == "discord" else folder))
        case ["bolt", url, model, _]:
            from bench.bolt import bolt_bot

            asyncio.run(bolt_bot(url, model))
        case ["durable-bolt", url, model, folder]:
            from bench.bolt import durable_bolt_bot

            asyncio.run(durable_bolt_bot(url, model, folder))
        case _:
            sys.exit(f"No bot is called {sys.argv[1:]}.")
