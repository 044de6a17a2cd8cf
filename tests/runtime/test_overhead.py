"""What the gateway itself costs between the agent and the platform."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median

import pytest
from msgspec.structs import replace

from rejoinder.agents.base import AgentEvent, Done, TextDelta
from rejoinder.channels.base import Outcome
from rejoinder.config.schema import GatewaySettings, Settings
from rejoinder.events import Part, Turn
from rejoinder.testing import FakeChannel, conversation

ANSWERS = 40
MOST = 0.005


class Decided:
    """Its second piece decides what people may see of the first; it goes on when they see it."""

    name = "decided"

    def __init__(self, first: str, channel: "Timed") -> None:
        self.at: list[float] = []
        self._first = first
        self._channel = channel

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        yield TextDelta(self._first)
        self.at.append(time.process_time())
        yield TextDelta(" there")
        await self._channel.until(lambda: len(self._channel.at) == len(self.at))
        yield TextDelta(".")
        yield Done()


class Timed(FakeChannel):
    def __init__(self) -> None:
        super().__init__()
        self.at: list[float] = []

    async def begin(self, part: Part) -> Outcome:
        self.at.append(time.process_time())
        return await super().begin(part)


@pytest.mark.parametrize("first", ["Hello", "[[reply_to:current]]\nHello"], ids=["words", "a reply"])
async def test_the_way_from_the_agent_to_the_platform(first: str, tmp_path: Path):
    """DE-24: below 5 ms at p50, of this process's own time: neither the disk nor who else works here counts."""
    channel = Timed()
    agent = Decided(first, channel)
    settings = replace(Settings(), gateway=GatewaySettings(store=f"sqlite:{tmp_path}/rejoinder.db"))
    async with conversation(agent, channel, settings) as chat:
        for number in range(ANSWERS):
            await chat.says(f"question {number}")
            await chat.hears("Hello there.")
    took = [called - decided for decided, called in zip(agent.at, channel.at, strict=True)]
    assert 0 < median(took) < MOST
