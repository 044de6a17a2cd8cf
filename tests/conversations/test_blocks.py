"""Answers in blocks (DE-22), on channels that could edit a message or let it grow."""

import asyncio

import pytest

from rejoinder.config.agents import AgentDefaults, HumanDelay
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, Settings
from rejoinder.testing import FakeChannel, ScriptedAgent, conversation
from rejoinder.testing.fake_channel import FakeMessenger

PARAGRAPHS = [f"{number} " + "word " * 100 + "end.\n\n" for number in range(4)]


def blocks(streaming: str | None = None, *, everywhere: bool = False) -> Settings:
    common = CommonChannelSettings(dm="open", streaming=streaming)
    defaults = AgentDefaults(block_streaming_default=everywhere, human_delay=HumanDelay(mode="off"))
    return Settings(channels={"fake": ConfiguredChannel("fake", common, {})}, agent_defaults=defaults)


@pytest.mark.parametrize("channel", [FakeChannel, FakeMessenger], ids=["grows", "edits"])
@pytest.mark.parametrize(
    "settings", [blocks(everywhere=True), blocks("blocks")], ids=["block_streaming_default", "streaming = blocks"]
)
async def test_blocks_wherever_they_are_asked_for(channel: type[FakeMessenger], settings: Settings) -> None:
    """DE-22: whole pieces while the rest is written, each a message that never changes."""
    go = asyncio.Event()
    agent = ScriptedAgent(["".join(PARAGRAPHS[:3]), go.wait, PARAGRAPHS[3]])
    async with conversation(agent, channel(), settings) as chat:
        await chat.says("tell me")
        first = await chat.hears()
        assert 800 <= len(first.text) <= 1200
        assert first.text.split()[0] == "0"
        go.set()
        rest = [await chat.hears()]
        said = " ".join(" ".join(shown.text.split()) for shown in (first, *rest))
        assert said == " ".join("".join(PARAGRAPHS).split())
        assert all(len(shown.frames) <= 1 for shown in (first, *rest))


async def test_a_channel_may_say_otherwise() -> None:
    """DE-22: its own `streaming` counts before the default."""
    go = asyncio.Event()
    agent = ScriptedAgent(["".join(PARAGRAPHS), go.wait, "The end."])
    async with conversation(agent, FakeMessenger(), blocks("off", everywhere=True)) as chat:
        await chat.says("tell me")
        await chat.asked(agent, 1)
        go.set()
        assert (await chat.hears()).text.endswith("The end.")
