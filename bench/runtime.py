"""What the gateway adds: from a message accepted to the model asked, from the model's word to the channel's call.

Both sides answer the same platform and model, which live in another process and hold the stopwatch: a bare relay
(bench/relay.py) and the whole gateway in memory, with a channel that polls and sends in the same way. Without a bar: a
bot that keeps nothing is no measure of one that keeps everything. bench/telegram.py has that measure.
"""

import asyncio
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable
from time import process_time
from typing import Any

import aiohttp
import msgspec

from bench.relay import relay
from bench.timing import duration, print_table
from rejoinder.app import MEMORY, Gateway
from rejoinder.channels.base import Delivered, Limits, Outcome
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredAgent, ConfiguredChannel, Settings
from rejoinder.events import Chat, Inbound, Part, Sender
from rejoinder.programs.interpreter import tune_to_serve

SESSIONS = 50


class Polling:
    """A channel of this platform: long poll in, one call out."""

    name = "polling"
    limits = Limits()

    def __init__(self, url: str) -> None:
        self._url = url

    async def listen(self, deliver: Callable[[Inbound], Awaitable[None]]) -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as self._http:
            while True:
                async with self._http.get(f"{self._url}/updates") as response:
                    updates = msgspec.json.decode(await response.read())
                if updates is None:
                    return
                for update in updates:
                    await deliver(_inbound(update["chat"], update["id"], update["text"]))

    async def send(self, part: Part) -> Outcome:
        body = msgspec.json.encode({"chat": part.route.chat, "text": part.text})
        async with self._http.post(f"{self._url}/send", data=body) as response:
            return Delivered(msgspec.json.decode(await response.read())["id"])


def _inbound(chat: str, id: str, text: str) -> Inbound:
    return Inbound("polling", id, id, Chat(chat), Sender(chat, chat), text)


async def gateway(url: str) -> None:
    model = {"base_url": f"{url}/v1", "model": "any"}
    settings = Settings(
        agents={"helper": ConfiguredAgent("openai", model)},
        channels={"polling": ConfiguredChannel("polling", CommonChannelSettings(agent="helper", dm="open"), None)},
    )
    async with Gateway(settings, channels=[Polling(url)], store=MEMORY) as running:
        tune_to_serve()  # as `rejoinder run` does
        await running.serve()


def _measure(bot: Callable[[str], Awaitable[None]], chats: int, rounds: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.platform", str(chats), str(rounds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as platform:
        assert platform.stdout is not None
        url = platform.stdout.readline().strip()
        before = process_time()
        asyncio.run(_run(bot, url))
        spent = process_time() - before
        return {**msgspec.json.decode(platform.stdout.readline()), "cpu": spent / (chats * rounds)}


async def _run(bot: Callable[[str], Awaitable[None]], url: str) -> None:
    await bot(url)


def run() -> None:
    alone: dict[str, list[dict[str, Any]]] = {"relay": [], "gateway": []}
    crowd: dict[str, list[dict[str, Any]]] = {"relay": [], "gateway": []}
    for _ in range(5):  # in turns, so that a busy moment meets both
        for name, bot in (("relay", relay), ("gateway", gateway)):
            alone[name].append(_measure(bot, 1, 200))
            crowd[name].append(_measure(bot, SESSIONS, 20))
    rows = []
    for key, what in (("to_model", "accepted -> model asked"), ("to_channel", "model's word -> channel called")):
        bare, ours = (min(statistics.median(each[key]) for each in alone[name]) for name in ("relay", "gateway"))
        rows.append([what, duration(bare), duration(ours), f"{ours / bare:.2f}"])
    bare, ours = (min(each["cpu"] for each in crowd[name]) for name in ("relay", "gateway"))
    what = f"CPU per message, {SESSIONS} sessions"
    rows.append([what, duration(bare), duration(ours), f"{ours / bare:.2f}"])
    bare, ours = (max(each["per_second"] for each in crowd[name]) for name in ("relay", "gateway"))
    what = f"messages/s, {SESSIONS} sessions"
    rows.append([what, f"{bare:.0f}", f"{ours:.0f}", f"{ours / bare:.2f}"])
    print_table("The gateway beside a bare relay (p50)", ["", "relay", "gateway", "ratio"], rows)
