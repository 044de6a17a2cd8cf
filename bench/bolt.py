"""The least a Slack bot can do, with slack-bolt as its own documentation shows it: the yardstick of bench/slack.py."""

import asyncio
from collections import defaultdict
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bench.bots import ask_model
from rejoinder.testing.platform.slack.world import APP_TOKEN, BOT_TOKEN


async def bolt_bot(url: str, model: str) -> None:
    root = f"{url}/api/"
    app = AsyncApp(client=AsyncWebClient(token=BOT_TOKEN, base_url=root))
    histories: dict[str, list[dict[str, str]]] = defaultdict(list)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:

        @app.event("message")
        async def answer(event: dict[str, Any], say: Any) -> None:
            history = histories[event["channel"]]
            history.append({"role": "user", "content": event["text"]})
            said = await ask_model(http, model, history)
            history.append({"role": "assistant", "content": said})
            await say(said)

        handler = AsyncSocketModeHandler(app, APP_TOKEN, web_client=AsyncWebClient(token=APP_TOKEN, base_url=root))
        await handler.connect_async()
        await asyncio.Event().wait()
