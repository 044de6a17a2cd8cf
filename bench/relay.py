"""A bare relay, the least a bot can do: long poll -> model -> send. The yardstick for bench/runtime.py.

No queue, no directive, no failure handled: what anybody writes on the first evening.
"""

import asyncio

import aiohttp
import msgspec

from rejoinder.agents.sse import ServerEventReader


async def relay(url: str) -> None:
    """Answers until the platform says that it is over."""
    histories: dict[str, list[dict[str, str]]] = {}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http, asyncio.TaskGroup() as tasks:
        while True:
            async with http.get(f"{url}/updates") as response:
                updates = msgspec.json.decode(await response.read())
            if updates is None:
                return
            for update in updates:
                tasks.create_task(_answer(http, url, histories, update["chat"], update["text"]))


async def _answer(
    http: aiohttp.ClientSession, url: str, histories: dict[str, list[dict[str, str]]], chat: str, text: str
) -> None:
    history = histories.setdefault(chat, [])
    history.append({"role": "user", "content": text})
    body = msgspec.json.encode({"model": "any", "messages": history, "stream": True})
    reader, said = ServerEventReader(), ""
    async with http.post(f"{url}/v1/chat/completions", data=body) as response:
        async for chunk in response.content.iter_any():
            for event in reader.feed(chunk):
                if event.data != "[DONE]":
                    said += msgspec.json.decode(event.data)["choices"][0]["delta"].get("content") or ""
    history.append({"role": "assistant", "content": said})
    async with http.post(f"{url}/send", data=msgspec.json.encode({"chat": chat, "text": said})) as response:
        await response.read()
