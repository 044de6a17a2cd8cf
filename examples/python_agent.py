"""A function as an agent. In rejoinder.toml:

[agents.shout]
kind = "python"
call = "python_agent:shout"
path = "examples"
"""

from collections.abc import Iterator

from rejoinder.agents.python import text_of
from rejoinder.events import Turn


def shout(turn: Turn) -> Iterator[str]:
    for word in text_of(turn).split():
        yield word.upper() + " "
