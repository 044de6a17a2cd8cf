"""The whole way as a call, for bots of one's own."""

import pytest

from rejoinder import Inbound, Reply, get_reply
from rejoinder.config.load import read
from rejoinder.config.schema import Settings
from rejoinder.errors import BadConfiguration
from rejoinder.events import Chat, Sender
from rejoinder.testing import ModelServer
from rejoinder.testing.model_server import Say

HELLO = Inbound("mine", "1", "1", Chat("room"), Sender("ann"), "hello")


async def test_from_a_message_to_its_replies():
    blocks, tools, models = [], [], []

    async def hear_tool(title):
        tools.append(title)

    async with ModelServer() as server:
        server.will(Say("[[reply_to:1]]\nHi, Ann.", tool="search"))
        settings = read(f'[agents.a]\nkind = "openai"\nmodel = "m"\nbase_url = "{server.openai_url}"', "x.toml", {})
        replies = await get_reply(HELLO, settings, on_block=blocks.append, on_tool=hear_tool, on_model=models.append)
    assert replies == [Reply("Hi, Ann.", reply_to="1")]
    assert (blocks, tools, models) == (["Hi, Ann."], ["search"], ["m"])


async def test_the_rules_of_a_configured_channel_hold():
    settings = read(
        '[agents.a]\nkind = "tour"\n[channels.mine]\nkind = "telegram"\ntoken = "t"\ndm = "off"', "x.toml", {}
    )
    assert await get_reply(HELLO, settings) == []


async def test_nobody_to_ask():
    with pytest.raises(BadConfiguration, match="there is no agent to ask"):
        await get_reply(HELLO, Settings())
