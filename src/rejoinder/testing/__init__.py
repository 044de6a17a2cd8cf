"""Fakes that ship: test a bot of yours with what we test ours.

async with conversation(MyAgent()) as chat:
    await chat.says("hello")
    await chat.hears("Hello!")
"""

from rejoinder.agents.scripted import ScriptedAgent
from rejoinder.testing.conversation import Chat, conversation
from rejoinder.testing.fake_channel import FakeChannel, Shown

__all__ = ["Chat", "FakeChannel", "ScriptedAgent", "Shown", "conversation"]
