"""The least a Telegram bot can do that loses nothing: the yardstick of bench/telegram.py."""

import asyncio

import aiohttp

from bench.bots import Bot
from bench.kept_messages import KeptMessages, Key


class DurableRelay(Bot):
    async def run(self, folder: str) -> None:
        async with asyncio.TaskGroup() as tasks:
            kept = KeptMessages(folder, tasks, self.ask, self._send)
            offset = 0
            while True:
                question = {"offset": offset, "timeout": 30, "allowed_updates": ["message"]}
                updates = await self.call("getUpdates", question)
                if not updates:
                    continue
                offset = updates[-1]["update_id"] + 1
                messages = [
                    (each["update_id"], each["message"]["chat"]["id"], each["message"]["text"]) for each in updates
                ]
                await kept.received(messages, offset)

    async def _send(self, chat: Key, text: str) -> Key:
        return (await self.call("sendMessage", {"chat_id": chat, "text": text}))["message_id"]


async def durable_relay(api: str, model: str, folder: str) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        await DurableRelay(http, api, model).run(folder)
