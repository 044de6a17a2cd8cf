"""Run as a program: the chat in this terminal, with an agent that says what stands in the argument."""

import ast
import asyncio
import logging
import sys

from rejoinder.app import serve
from rejoinder.channels.terminal import Settings, open_channel
from rejoinder.testing import ScriptedAgent

if __name__ == "__main__":
    logging.getLogger("rejoinder").addHandler(logging.NullHandler())
    replies = ast.literal_eval(sys.argv[1])
    asyncio.run(serve(open_channel("terminal", Settings(agent="bot")), ScriptedAgent(*replies, name="bot")))
