"""A function as an agent. In rejoinder.toml:

[agents.shout]
kind = "python"
call = "python_agent:shout"
path = "examples"
"""

from collections.abc import Iterator

from rejoinder.agents.python import text_of
from rejoinder.agents.steering_offers import SteeringOffers
from rejoinder.events import Turn


def shout(turn: Turn) -> Iterator[str]:
    for word in text_of(turn).split():
        yield word.upper() + " "


def shout_on(turn: Turn, further: SteeringOffers) -> Iterator[str]:
    """The same, and what is said while it shouts it shouts too: the queue mode `steer` hands it over."""
    words = text_of(turn).split()
    while words:
        yield words.pop(0).upper() + " "
        for meanwhile in further.take():
            words += text_of(meanwhile).split()
