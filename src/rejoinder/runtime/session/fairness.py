"""Yields to the event loop while much text is being read, so that nothing else waits longer than a few milliseconds."""

from collections.abc import Iterator
from time import perf_counter

SLICE = 8192
"""How many characters are read in one go. The most hostile text takes the reader a microsecond for each (OD-5)."""
LONGEST_WORK = 0.004
"""Seconds of work after which others get their turn."""
MOST_STEPS = 100
"""After this many steps others get their turn too, because the work of agents between their events is not measured."""


def slices(text: str) -> Iterator[str]:
    for at in range(0, len(text), SLICE):
        yield text[at : at + SLICE]


class Fairness:
    """Call `begin` and `end` around each step of work; `end` says whether it is time to let others run."""

    __slots__ = ("_began", "_steps", "_worked")

    def __init__(self) -> None:
        self._began = 0.0
        self._worked = 0.0
        self._steps = 0

    def begin(self) -> None:
        self._began = perf_counter()

    def end(self) -> bool:
        self._worked += perf_counter() - self._began
        self._steps += 1
        if self._worked <= LONGEST_WORK and self._steps < MOST_STEPS:
            return False
        self._worked = self._steps = 0
        return True
