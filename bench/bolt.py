"""Two Slack bots with slack-bolt as its own documentation shows it: one keeps nothing, one loses nothing."""

import asyncio
from collections import defaultdict
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bench.bots import ask_model
from bench.kept_messages import History, KeptMessages, Key
from rejoinder.testing.platform.slack.world import APP_TOKEN, BOT_TOKEN


async def bolt_bot(url: str, model: str) -> None:
    app = AsyncApp(client=_client(url, BOT_TOKEN))
    histories: dict[str, History] = defaultdict(list)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:

        @app.event("message")
        async def answer(event: dict[str, Any], say: Any) -> None:
            history = histories[event["channel"]]
            history.append({"role": "user", "content": event["text"]})
            said = await ask_model(http, model, history)
            history.append({"role": "assistant", "content": said})
            await say(said)

        await _listen(app, url)


async def durable_bolt_bot(url: str, model: str, folder: str) -> None:
    # What Bolt calls "before the response": an envelope is acknowledged when the message is on the disk.
    app = AsyncApp(client=_client(url, BOT_TOKEN), process_before_response=True)

    async def ask(history: History) -> str:
        return await ask_model(http, model, history)

    async def send(channel: str, text: str) -> Key:
        return (await app.client.chat_postMessage(channel=channel, text=text))["ts"]

    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http,
        asyncio.TaskGroup() as tasks,
    ):
        kept = KeptMessages(folder, tasks, ask, send)

        @app.event("message")
        async def keep(event: dict[str, Any]) -> None:
            await kept.received([(event["ts"], event["channel"], event["text"])])

        await _listen(app, url)


async def _listen(app: AsyncApp, url: str) -> None:
    await AsyncSocketModeHandler(app, APP_TOKEN, web_client=_client(url, APP_TOKEN)).connect_async()
    await asyncio.Event().wait()


def _client(url: str, token: str) -> AsyncWebClient:
    return AsyncWebClient(token=token, base_url=f"{url}/api/")
