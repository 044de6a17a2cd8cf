"""A fake platform of `rejoinder.testing` and a model without latency, in a process of their own, with a stopwatch.

`python -m bench.bot_platform PERSONALITY CHATS ROUNDS` prints its addresses and waits until a bot listens. Then it
prints so, lets each chat ask its next question when the last one is answered, and prints the seconds of every message.
"""

import asyncio
import sys
from collections import defaultdict
from time import perf_counter
from typing import Any

import msgspec
from aiohttp import web

from bench.platform import ANSWER, stream_answer
from rejoinder.testing import FakePlatform
from rejoinder.testing.platform.discord.server import DiscordServer
from rejoinder.testing.platform.slack.server import SlackServer
from rejoinder.testing.platform.telegram.server import TelegramServer
from rejoinder.testing.platform.truth import BOT, Frame

WHOLE = "".join(ANSWER)
PATIENCE = 15.0
"""Seconds for a bot to come; one that failed at its start never does."""
COURSE = 300.0
"""Seconds for a whole course; a bot that failed on the way never ends it."""


class Questions:
    """Hears what the bot says, and asks on."""

    def __init__(self, platform: FakePlatform, chats: int, rounds: int) -> None:
        self._platform = platform
        self._rounds = rounds
        self._open = chats
        self._asked: dict[str, list[float]] = defaultdict(list)
        self._asking: set[asyncio.Task[None]] = set()
        self.times: list[float] = []
        self.over = asyncio.Event()
        show = platform.truth.show

        def heard(frame: Frame) -> None:
            show(frame)
            if frame.by == BOT and frame.text == WHOLE:  # it may have been shown as a draft before
                self._answered(frame)

        platform.truth.show = heard

    def ask(self, chat: str) -> None:
        # On its way when the call that answered the last one has been answered itself.
        task = asyncio.ensure_future(self._ask(chat))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, chat: str) -> None:
        self._asked[chat].append(perf_counter())
        await self._platform.says(chat, chat, "And now?")

    def _answered(self, frame: Frame) -> None:
        self.times.append(perf_counter() - self._asked[frame.chat][-1])
        if len(self._asked[frame.chat]) < self._rounds:
            return self.ask(frame.chat)
        self._open -= 1
        if not self._open:
            self.over.set()


async def _listened_to(platform: FakePlatform) -> None:
    """Returns when a bot is there."""
    async with asyncio.timeout(PATIENCE):
        if isinstance(platform.people, TelegramServer):
            return await _first_poll(platform.people)
        if isinstance(platform.people, DiscordServer):
            await platform.people.gateway.somebody_listens.wait()
            return None
        assert isinstance(platform.people, SlackServer)
        events, opened = platform.people.events, asyncio.Event()
        events.changed = opened.set
        await opened.wait()


async def _first_poll(people: TelegramServer) -> None:
    """Returns when a bot begins to wait for updates."""
    updates, polled = people.updates, asyncio.Event()
    get = updates.get

    async def asked(payload: dict[str, Any]) -> list[dict[str, Any]]:
        polled.set()
        return await get(payload)

    updates.get = asked
    await polled.wait()
    updates.get = get


async def serve(personality: str, chats: int, rounds: int) -> None:
    model = web.Application()
    model.add_routes([web.post("/v1/chat/completions", stream_answer)])
    runner = web.AppRunner(model, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with FakePlatform(personality) as platform:
        model_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        addresses = {"url": platform.url, "model": model_url, "config": platform.config()}
        print(msgspec.json.encode(addresses).decode(), flush=True)
        questions = Questions(platform, chats, rounds)
        await _listened_to(platform)
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        began = perf_counter()
        for chat in range(chats):
            questions.ask(f"person-{chat}")
        async with asyncio.timeout(COURSE):
            await questions.over.wait()
        took = perf_counter() - began
        print(msgspec.json.encode({"times": questions.times, "took": took}).decode(), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)  # until the bot is measured
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
