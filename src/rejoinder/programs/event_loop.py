"""The event loop of a process that serves: uvloop where it is installed, else Python's own (uvloop has no Windows).

A message crosses the loop about forty times; uvloop does that in C, and saves a tenth of the gateway's CPU under load.
"""

import asyncio
from collections.abc import Callable

from rejoinder.wiring.stores import watches_sockets

try:
    import uvloop
except ImportError:
    uvloop = None


def fast_loop(store: str) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes the loop of a gateway with this store; None is Python's own, which some stores need."""
    if uvloop is None or watches_sockets(store):
        return None
    return uvloop.new_event_loop
