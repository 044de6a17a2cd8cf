"""The process of an isolated python agent: it runs the function, and speaks `agents.python.wire` with the gateway.

Rule 1: its standard input and output belong to the protocol. Anything that the function prints goes to stderr, and a
function that reads standard input finds it empty.
Rule 2: it ends with the gateway: as soon as its input ends.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from math import inf
from typing import cast

from msgspec.structs import replace

from rejoinder.agents.base import AgentEvent, RunLimits, TextDelta, Thought, ToolEnded
from rejoinder.agents.failures import failed
from rejoinder.agents.lines import LINE_LIMIT, Lines
from rejoinder.agents.python import Settings, wire
from rejoinder.agents.python.function import PythonAgent, find
from rejoinder.errors import BadConfiguration
from rejoinder.events import Turn
from rejoinder.runtime.tasks import Tasks

PIECE = 65_536
"""The most characters of one line."""
LONGEST_OUTPUT = 4000
LONGEST_TURN = 1 << 30
ENDED_SECONDS = 3.0
"""How long a cancelled run may take to end."""


def main(name: str, call: str, path: str) -> None:
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    asyncio.run(_serve(name, Settings(call=call, path=path), requests, answers))
    os._exit(0)  # a thread that never ends must not keep the process


async def _serve(name: str, settings: Settings, requests: int, answers: int) -> None:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(answers, "wb"))
    out = asyncio.StreamWriter(transport, protocol, None, loop)
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(requests, "rb"))
    try:
        agent = PythonAgent(name, settings, find(name, settings))
    except BadConfiguration as problem:
        out.write(wire.encode(wire.Opened(str(problem))) + b"\n")
        return await out.drain()
    async with Tasks() as tasks:
        await Worker(agent, tasks, out).hear(reader)
        os._exit(0)


class Worker:
    def __init__(self, agent: PythonAgent, tasks: Tasks, out: asyncio.StreamWriter) -> None:
        agent.take_limits(RunLimits(inf, inf))  # the gateway watches the time
        self._agent = agent
        self._tasks = tasks
        self._out = out
        self._running: dict[int, asyncio.Task[None]] = {}
        self._offers: dict[int, asyncio.Task[None]] = {}

    async def hear(self, requests: asyncio.StreamReader) -> None:
        self._send(wire.Opened())
        lines = Lines(LONGEST_TURN)
        while chunk := await requests.read(PIECE):
            for line in lines.feed(chunk):
                self._take(wire.read_request(line))

    def _take(self, message: wire.ToProcess) -> None:
        match message:
            case wire.Start(run=run, turn=turn):
                events = cast(AsyncGenerator[AgentEvent, None], self._agent.run(turn))
                self._running[run] = self._tasks.start(
                    f"run {run}", self._tell(run, events), partial(_drop, self._running, run)
                )
            case wire.Cancel(run=run):
                self._send(wire.Heard(run))
                if (task := self._running.get(run)) is not None:
                    task.cancel()
                asyncio.get_running_loop().call_later(ENDED_SECONDS, self._look_after, run)
            case wire.Offer(offer=offer, turn=turn):
                self._offers[offer] = self._tasks.start(
                    f"offer {offer}", self._offer(offer, turn), partial(_drop, self._offers, offer)
                )
            case wire.Withdraw(offer=offer):
                if (task := self._offers.get(offer)) is not None:
                    task.cancel()

    async def _tell(self, run: int, events: AsyncGenerator[AgentEvent, None]) -> None:
        async with aclosing(events):
            async for event in events:
                for part in _in_lines(event):
                    self._send(wire.Said(run, part))
                    await self._out.drain()

    async def _offer(self, offer: int, turn: Turn) -> None:
        self._send(wire.Answered(offer, await self._agent.steer(turn)))

    def _look_after(self, cancelled: int) -> None:
        """Each run has at most one thread, so if there are more threads than runs, one of a cancelled run goes on."""
        if cancelled in self._running or len(self._agent.threads) > len(self._running):
            self._send(wire.Stuck())

    def _send(self, message: wire.FromProcess) -> None:
        line = wire.encode(message)
        if len(line) > LINE_LIMIT and isinstance(message, wire.Said):
            line = wire.encode(wire.Said(message.run, failed("format", "an event that is larger than 8 MB")))
        self._out.write(line + b"\n")


def _drop(tasks: dict[int, asyncio.Task[None]], number: int) -> None:
    tasks.pop(number, None)


def _in_lines(event: AgentEvent) -> list[AgentEvent]:
    """A long text in pieces, so that no line is long."""
    match event:
        case TextDelta(text=text) | Thought(text=text) if len(text) > PIECE:
            return [replace(event, text=text[at : at + PIECE]) for at in range(0, len(text), PIECE)]
        case ToolEnded(output=output) if len(output) > LONGEST_OUTPUT:
            return [replace(event, output=output[:LONGEST_OUTPUT])]
        case _:
            return [event]
