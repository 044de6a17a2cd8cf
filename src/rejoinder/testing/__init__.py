"""The tools that rejoinder is tested with: test your own bots, channels and agents with them.

    async with conversation(MyAgent()) as chat:
        await chat.says("hello")
        await chat.hears("Hello!")

Names are imported when first used, so that a fake you do not use costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rejoinder.agents.scripted import ScriptedAgent
    from rejoinder.testing.agent_contract import AgentContract, Agents
    from rejoinder.testing.channel_contract import ChannelContract, PlayedPlatform
    from rejoinder.testing.chat import Chat, conversation
    from rejoinder.testing.fake_channel import (
        FakeChannel,
        FakeDeduplicator,
        FakeFiles,
        FakeMessenger,
        FakeRoom,
        FakeThreads,
        Shown,
    )
    from rejoinder.testing.model_server import ModelServer
    from rejoinder.testing.platform import FakePlatform, RemotePlatform
    from rejoinder.testing.store_contract import StoreContract

_HOME = {
    "AgentContract": "rejoinder.testing.agent_contract",
    "Agents": "rejoinder.testing.agent_contract",
    "ChannelContract": "rejoinder.testing.channel_contract",
    "Chat": "rejoinder.testing.chat",
    "FakeChannel": "rejoinder.testing.fake_channel",
    "FakeFiles": "rejoinder.testing.fake_channel",
    "FakeDeduplicator": "rejoinder.testing.fake_channel",
    "FakeMessenger": "rejoinder.testing.fake_channel",
    "FakePlatform": "rejoinder.testing.platform",
    "FakeRoom": "rejoinder.testing.fake_channel",
    "FakeThreads": "rejoinder.testing.fake_channel",
    "ModelServer": "rejoinder.testing.model_server",
    "PlayedPlatform": "rejoinder.testing.channel_contract",
    "RemotePlatform": "rejoinder.testing.platform",
    "ScriptedAgent": "rejoinder.agents.scripted",
    "Shown": "rejoinder.testing.fake_channel",
    "StoreContract": "rejoinder.testing.store_contract",
    "conversation": "rejoinder.testing.chat",
}

__all__ = [
    "AgentContract",
    "Agents",
    "ChannelContract",
    "Chat",
    "FakeChannel",
    "FakeDeduplicator",
    "FakeFiles",
    "FakeMessenger",
    "FakePlatform",
    "FakeRoom",
    "FakeThreads",
    "ModelServer",
    "PlayedPlatform",
    "RemotePlatform",
    "ScriptedAgent",
    "Shown",
    "StoreContract",
    "conversation",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"rejoinder.testing has no name {name!r}; there are: {', '.join(sorted(_HOME))}")
