"""How the interpreter of a process that serves collects garbage and switches threads.

What was loaded at the start is never garbage, and reference counting frees what a message leaves behind (nothing here
keeps cycles). So the collector need not scan the former, and need not run several times for every message. With its
defaults it takes a tenth of the gateway's time, and a sixth of its start.

A long answer is rendered in a thread, and everybody else waits for what that thread does not give back: the collector
scans the objects of a long answer without a break, and a thread that computes keeps the interpreter until the switch
interval is over, each time the event loop lets go of it, for every socket and every statement.
"""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

YOUNG = 20_000
"""Objects allocated in excess of those freed, after which the collector looks for cycles among the young ones."""
MIDDLE, OLD = 2, 50
"""How many such looks are between two at the middle generation, and how many of those between two at everything. The
middle one is looked at often, because then there is little in it: 60,000 objects take 10 ms, 220,000 took 40 ms."""
SWITCH_SECONDS = 0.001


@contextmanager
def without_collection() -> Generator[None]:
    """For what loads a lot and then goes on with the collector's defaults."""
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
