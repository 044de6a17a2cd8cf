"""How long everybody else waits while an agent gives an answer of 50 MB: the longest stop of the event loop.

The answer comes as one string of a python agent, in small pieces without a pause, and over HTTP; it goes to a page that
shows it as it grows, and to a platform with messages of 4096 characters. A stop is measured in CPU time of all threads:
while another process has the core, it is not we who stop.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from time import perf_counter, process_time
from typing import Any

from aiohttp import web
from msgspec.structs import replace

from bench.timing import Bars, duration, print_table
from rejoinder.agents import http, openai, python
from rejoinder.agents.base import Agent
from rejoinder.agents.python.function import PythonAgent
from rejoinder.app import MEMORY, Gateway, with_channel
from rejoinder.channels.base import Limits
from rejoinder.config.schema import Settings
from rejoinder.events import Turn
from rejoinder.programs.interpreter import tune_to_serve
from rejoinder.runtime.tasks import Tasks
from rejoinder.secret import Secret
from rejoinder.testing.fake_channel import FakeChannel, FakeMessenger

SIZE = 50_000_000
LONGEST_STOP = 0.05
TICK = 0.001
PROSE = "A line of *prose* with `code`, a [link](https://example.org/a?b=c) and words in **bold**.\n\n"
FENCE = "```python\nx = [(i, str(i)) for i in range(10)]\n```\n| a | b |\n| - | - |\n| 1 | 2 |\n\n"


def whole(text: str) -> Callable[[Turn], str]:
    return lambda turn: text


def in_pieces(text: str) -> Callable[[Turn], AsyncIterator[str]]:
    async def pieces(turn: Turn) -> AsyncIterator[str]:
        """Never waits, so it never gives the loop back by itself."""
        for at in range(0, len(text), 40):
            yield text[at : at + 40]

    return pieces


def _python(call: Callable[[Turn], Any]) -> Agent:
    return PythonAgent("huge", python.Settings(call="-:-"), call)


@asynccontextmanager
async def _serving(kind: str, text: str) -> AsyncGenerator[str]:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        piece, frame = text[:60_000].encode(), b""
        if kind == "text/event-stream":
            frame = b'data: {"choices":[{"delta":{"content":"Some words of an answer. "}}]}\n\n' * 1000
        sent = 0
        while sent < SIZE:
            await response.write(frame or piece)
            sent += len(frame or piece)
        if frame:
            await response.write(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
        return response

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _longest_stop(agent: Agent, channel: FakeMessenger) -> float:
    longest, over = 0.0, asyncio.Event()

    async def tick() -> None:
        nonlocal longest
        while not over.is_set():
            clock, spent = perf_counter(), process_time()
            await asyncio.sleep(TICK)
            longest = max(longest, min(perf_counter() - clock - TICK, process_time() - spent))

    settings = with_channel(Settings(), channel.name, agent.name, ("ann",))
    settings = replace(settings, channels={channel.name: settings.channels[channel.name]})
    gateway = Gateway(settings, agents={agent.name: agent}, channels=[channel], store=MEMORY)
    async with Tasks() as tasks, gateway:
        tune_to_serve()  # as `rejoinder run` does
        tasks.start("gateway", gateway.serve())
        await channel.says("hello")
        ticking = tasks.start("tick", tick())
        await gateway.tasks.idle(besides=gateway.listening.tasks)
        over.set()
        await tasks.wait(ticking)
        await channel.close()
    said = "".join(shown.text for shown in channel.messages.values())
    assert "cut here" in said, said[-300:]
    return longest


async def _over_http(kind: str, channel: FakeMessenger) -> float:
    async with _serving(kind, PROSE * 1000) as port:
        url = f"http://127.0.0.1:{port}/v1"
        if kind == "text/plain":
            agent: Any = http.open_agent("huge", http.Settings(url=url))
        else:
            settings = openai.Settings(model="any", base_url=url, api_key=Secret("x"))
            agent = openai.open_agent("huge", settings)
        try:
            return await _longest_stop(agent, channel)
        finally:
            await agent.close()


def run() -> None:
    bars = Bars()
    rows: list[list[str]] = []
    text = (PROSE * (SIZE // len(PROSE) + 1))[:SIZE]
    code = (FENCE * (SIZE // len(FENCE) + 1))[:SIZE]
    page, messages = FakeChannel, partial(FakeMessenger, limits=Limits(4096))
    ways: dict[str, Callable[[], Coroutine[Any, Any, float]]] = {
        "one string -> page": lambda: _longest_stop(_python(whole(text)), page()),
        "one string -> messages": lambda: _longest_stop(_python(whole(text)), messages()),
        "code and tables -> messages": lambda: _longest_stop(_python(whole(code)), messages()),
        "one word -> messages": lambda: _longest_stop(_python(whole("a" * SIZE)), messages()),
        "pieces without a pause (5 MB) -> page": lambda: _longest_stop(_python(in_pieces(text[: SIZE // 10])), page()),
        "http, plain text -> page": lambda: _over_http("text/plain", page()),
        "a model's stream -> messages": lambda: _over_http("text/event-stream", messages()),
    }
    for what, measured in ways.items():
        stop = asyncio.run(measured())
        rows.append([what, duration(stop), duration(LONGEST_STOP), bars.verdict(what, (stop, LONGEST_STOP))])
    print_table("The longest stop of the event loop while 50 MB come in", ["", "stop", "bar", ""], rows)
    bars.settle()
