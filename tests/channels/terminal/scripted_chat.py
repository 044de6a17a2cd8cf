"""Run as a program: the chat in this terminal, with an agent that says what stands in the argument.

A number in it is a pause.
"""

import ast
import asyncio
import logging
import sys
from functools import partial

from rejoinder.app import serve
from rejoinder.channels.terminal import Settings, open_channel
from rejoinder.testing import ScriptedAgent

if __name__ == "__main__":
    logging.getLogger("rejoinder").addHandler(logging.NullHandler())
    written = ast.literal_eval(sys.argv[1])
    replies = [
        [partial(asyncio.sleep, piece) if isinstance(piece, float) else piece for piece in each]
        if isinstance(each, list)
        else each
        for each in written
    ]
    asyncio.run(serve(open_channel("terminal", Settings(agent="bot")), ScriptedAgent(*replies, name="bot")))
