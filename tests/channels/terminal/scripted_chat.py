"""Run as a program: the chat in this terminal, with an agent that says what stands in the argument.

A number in it is a pause.
"""

import ast
import asyncio
import logging
import sys
from functools import partial

from rejoinder.agents.base import Agent
from rejoinder.app import MEMORY, SELF, Gateway, with_channel
from rejoinder.channels.terminal import Settings, open_channel
from rejoinder.config.schema import Settings as Configured
from rejoinder.testing import ScriptedAgent


async def chat(agent: Agent) -> None:
    settings = with_channel(Configured(), "terminal", agent.name, (SELF,))
    channel = open_channel("terminal", Settings(), agent.name)
    async with Gateway(settings, agents={agent.name: agent}, channels=[channel], store=MEMORY) as gateway:
        await gateway.serve()


if __name__ == "__main__":
    logging.getLogger("rejoinder").addHandler(logging.NullHandler())
    written = ast.literal_eval(sys.argv[1])
    replies = [
        [partial(asyncio.sleep, piece) if isinstance(piece, float) else piece for piece in each]
        if isinstance(each, list)
        else each
        for each in written
    ]
    asyncio.run(chat(ScriptedAgent(*replies, name="bot")))
