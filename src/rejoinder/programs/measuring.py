"""Measures the gateway on this machine: the whole way of a message, with an agent and a channel that take no time.

So it measures only our own work: accept, decide, queue, prompt, read, deliver, and the store, which waits for the disk
as in production.
"""

import asyncio
import resource
import statistics
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from msgspec import Struct

from rejoinder.agents.base import AgentEvent, Done, TextDelta
from rejoinder.app import Gateway
from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredAgent, ConfiguredChannel, Settings
from rejoinder.events import Chat, Inbound, Part, Sender, Turn
from rejoinder.programs.interpreter import tune_to_serve

CHANNEL, AGENT = "bench", "echo"


class Figures(Struct, frozen=True):
    """The keys of `--json`."""

    messages: int
    sessions: int
    first_ms: float
    """The very first message, from its acceptance to its answer."""
    p50_ms: float
    """One session, one message after the other."""
    p95_ms: float
    cpu_ms: float
    """Processor time for a message, with all sessions at once."""
    messages_per_second: float
    """All sessions at once, each with its next message as soon as it is answered."""
    memory_mb: float
    """The peak of this process."""


class _Echo:
    name = AGENT

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        yield TextDelta("[[reply_to:current]]\nHere you are.")
        yield Done()


class _Wire:
    """Accepts every part, and wakes the caller of `asks` that is waiting for the answer in this chat."""

    name = CHANNEL
    limits = Limits()

    def __init__(self) -> None:
        self._sent = 0
        self._answered: dict[str, asyncio.Future[None]] = {}

    async def listen(self, deliver: Inlet) -> None:
        await asyncio.Event().wait()

    async def send(self, part: Part) -> Outcome:
        self._sent += 1
        if (answered := self._answered.pop(part.route.chat, None)) is not None:
            answered.set_result(None)
        return Delivered(f"answer-{self._sent}")

    async def asks(self, gateway: Gateway, chat: str, number: int) -> float:
        """Sends a message and returns the seconds to its answer."""
        self._answered[chat] = answered = asyncio.get_running_loop().create_future()
        began, id = perf_counter(), f"{chat}-{number}"
        await gateway.dispatch(Inbound(CHANNEL, id, id, Chat(chat), Sender(chat), f"message {number}"))
        await answered
        return perf_counter() - began


async def measure(messages: int, sessions: int, folder: Path) -> Figures:
    """Uses its own store below the folder, and removes it afterwards."""
    settings = Settings(
        agents={AGENT: ConfiguredAgent("python", {})},
        channels={CHANNEL: ConfiguredChannel(CHANNEL, CommonChannelSettings(agent=AGENT, dm="open"), None)},
    )
    wire = _Wire()
    with TemporaryDirectory(prefix="rejoinder-bench-", dir=folder) as place:
        store = f"sqlite:{Path(place) / 'bench.db'}"
        async with Gateway(settings, agents={AGENT: _Echo()}, channels=[wire], store=store) as gateway:
            tune_to_serve()
            first = await wire.asks(gateway, "alone", 0)
            alone = [await wire.asks(gateway, "alone", number) for number in range(1, messages + 1)]
            rounds = max(1, messages // sessions)
            began, worked = perf_counter(), process_time()
            await asyncio.gather(*(_converse(wire, gateway, f"chat-{each}", rounds) for each in range(sessions)))
            took, spent, count = perf_counter() - began, process_time() - worked, rounds * sessions
            await gateway.tasks.idle()
    return Figures(
        messages=count,
        sessions=sessions,
        first_ms=first * 1000,
        p50_ms=statistics.median(alone) * 1000,
        p95_ms=statistics.quantiles(alone, n=20)[-1] * 1000 if len(alone) > 1 else alone[0] * 1000,
        cpu_ms=spent / count * 1000,
        messages_per_second=count / took,
        memory_mb=_memory_mb(),
    )


async def _converse(wire: _Wire, gateway: Gateway, chat: str, rounds: int) -> None:
    for number in range(rounds):
        await wire.asks(gateway, chat, number)


def _memory_mb() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20) if sys.platform == "darwin" else most / 1024
