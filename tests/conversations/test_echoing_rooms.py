"""A room that tells of its agents' messages under the ids they were sent with (IN-20 to IN-25)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rejoinder.agents.scripted import ScriptedAgent
from rejoinder.app import MEMORY, Gateway
from rejoinder.config import schema
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.testing import FakeRoom
from rejoinder.testing.patience import PATIENCE

HELPER, CODER = "helper", "coder"


class Room(FakeRoom):
    def __init__(self) -> None:
        super().__init__(HELPER, CODER)

    def said(self) -> list[str]:
        return [each.text for each in self.messages.values() if each.author == "bot" and each.complete]


@asynccontextmanager
async def room(helper: ScriptedAgent, coder: ScriptedAgent, **more: object) -> AsyncIterator[Room]:
    channel = Room()
    common = CommonChannelSettings(
        agents=(HELPER, CODER),
        dm="open",
        groups="open",
        require_mention=False,
        **more,  # type: ignore[arg-type]
    )
    agents = {HELPER: helper, CODER: coder}
    settings = schema.Settings(
        agents={name: schema.ConfiguredAgent("scripted", {}) for name in agents},
        channels={"fake": schema.ConfiguredChannel("fake", common, {})},
    )
    async with asyncio.timeout(PATIENCE), Gateway(settings, agents=agents, channels=[channel], store=MEMORY) as gateway:
        serving = asyncio.create_task(gateway.serve())
        yield channel
        await channel.close()
        await serving


async def test_a_mention_wakes_the_other_agent():
    """IN-21: our own message is dropped for who said it and heard by who is named."""
    helper, coder = ScriptedAgent("@coder, what do you think?", name=HELPER), ScriptedAgent("I agree.", name=CODER)
    async with room(helper, coder) as channel:
        await channel.says("Review this", kind="group")
        await channel.until(lambda: channel.said() == ["@coder, what do you think?", "I agree."])
    assert (len(helper.turns), len(coder.turns)) == (1, 1)


async def test_two_that_would_talk_for_ever_stop():
    """IN-23: at the cap there is one notice, then silence."""
    helper = ScriptedAgent(*["@coder go on"] * 20, name=HELPER)
    coder = ScriptedAgent(*["@helper go on"] * 20, name=CODER)
    async with room(helper, coder, bot_turns=6) as channel:
        await channel.says("Talk", kind="group")
        await channel.until(lambda: any("silent until a human writes" in text for text in channel.said()))
    notices = [text for text in channel.said() if "silent until" in text]
    assert len(notices) == 1
    assert len(helper.turns) + len(coder.turns) <= 6


async def test_why_is_about_what_a_person_wrote():
    """IN-64: not about the answer that the room told of."""
    helper, coder = ScriptedAgent("@coder is away.", name=HELPER), ScriptedAgent("I am.", name=CODER)
    async with room(helper, coder, owners=("ann",)) as channel:
        await channel.says("Review this", kind="group", sender="ann")
        await channel.until(lambda: channel.said() == ["@coder is away.", "I am."])
        await channel.says("/why", kind="group", sender="ann")
        await channel.until(lambda: len(channel.said()) == 3)
        assert "activation: continue, wakes helper" in channel.said()[2]
        assert "agent helper: answered" in channel.said()[2]
