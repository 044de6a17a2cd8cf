"""What somebody who tests a bot of their own gets from `FakePlatform`."""

import asyncio

import pytest

from rejoinder.app import MEMORY, Gateway
from rejoinder.config.load import read
from rejoinder.errors import BadUse
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE


def test_who_asks_for_a_platform_that_nobody_plays_is_told():
    with pytest.raises(BadUse, match="'irc' can be played; there are: telegram, discord, slack, web"):
        FakePlatform("irc")


@pytest.mark.parametrize("text", [None, "Hello!"])
async def test_an_answer_is_heard_when_it_says_something(text):
    """Not the sign that stands for it while nothing of it is written."""
    agent = ScriptedAgent(["Hel", 0.5, "lo!"], name="a")
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        configured = f'[agents.a]\nkind = "tour"\n[channels.telegram]\ndm = "open"\n{platform.config()}'
        async with Gateway(read(configured, "x.toml", {}), agents={"a": agent}, store=MEMORY) as gateway:
            gateway.tasks.start("serve", gateway.serve())
            await platform.says("ann", "ann", "hello")
            heard = await platform.hears("ann", text)
            assert heard.text in ([text] if text else ["Hel", "Hello!"])
            assert "…" in [frame.text for frame in platform.truth.frames]


async def test_what_is_never_said_fails_with_what_was():
    async with FakePlatform("telegram") as platform:
        with pytest.raises(AssertionError, match=r"what people saw:\s*$"):
            await platform.hears("ann", "Hello!", seconds=0.01)
