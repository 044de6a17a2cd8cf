"""Sets how the interpreter of a serving process collects garbage and switches threads.

Objects loaded at the start never become garbage, and reference counting frees what a message leaves behind (our code
makes no cycles). So the collector need not scan the former, and need not run several times for every message. With its
defaults it takes a tenth of the gateway's time, and a sixth of its start.

A long answer is rendered in a thread, and everything else waits while that thread holds the interpreter: the collector
scans the objects of a long answer without a break, and a computing thread keeps the interpreter for a whole switch
interval each time the event loop lets go of it, which happens with every socket and every statement.
"""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

YOUNG = 20_000
"""After this many more allocations than deallocations the collector looks for cycles among the young objects."""
MIDDLE, OLD = 2, 50
"""How many collections of the young objects there are for each collection of the middle generation, and how many of
those for each full one. The middle generation is collected often, so that there is little in it: 60,000 objects take
10 ms, 220,000 took 40 ms."""
SWITCH_SECONDS = 0.001


@contextmanager
def without_collection() -> Generator[None]:
    """For code that loads a lot and then continues with the collector's defaults."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def pause_collection() -> None:
    """Called once, by the owner of the process, before much is loaded; `tune_to_serve` has to follow."""
    gc.disable()


def tune_to_serve() -> None:
    """Called once, by the same owner, when everything is loaded. Half a megabyte of garbage from loading is kept."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    gc.enable()
    sys.setswitchinterval(SWITCH_SECONDS)
