"""The event loop of a serving process: uvloop if it is installed, else Python's own (uvloop does not run on Windows).

A message crosses the loop about forty times; uvloop does that in C, and saves a tenth of the gateway's CPU under load.
"""

import asyncio
from collections.abc import Callable

from rejoinder.config.kinds import store_kind

try:
    import uvloop
except ImportError:
    uvloop = None


def fast_loop(store: str) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The function that makes the loop for a gateway with this store; None: Python's own loop, which some stores
    need."""
    if uvloop is None or store_kind(store).watches_sockets:
        return None
    return uvloop.new_event_loop
