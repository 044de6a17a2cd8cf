"""When a turn that a crash interrupted runs again, by the evidence against it (DU-2).

Rule 1: a crash makes everything suspect that was under way, because any of it may have ended the process. But only a
        crash with nothing else under way is strong evidence.
Rule 2: if somebody kills the process again and again, whatever runs is hit, and a long turn every time. So the last
        piece of evidence needs a stable process: a suspect with which two processes have died waits until this one has
        lived for a while. Meanwhile everybody else is served; only the suspect's own session waits behind it.
"""

from enum import Enum
from typing import Final, Literal

from msgspec import Struct

MOST_ALONE: Final = 3
"""After this many deaths of the process with only one thing under way, that thing is quarantined."""
STABLE_AFTER: Final = 20.0
"""Seconds after which a process counts as stable."""
HEAD_START: Final = 10.0
"""The most seconds in all for which everything else waits for suspects that have to run alone."""
UNTIL_STABLE: Final = (
    f"the gateway died {MOST_ALONE - 1} times while this ran alone; it runs again when the gateway has been up for "
    f"{STABLE_AFTER:g} seconds"
)


class RerunPolicy(Enum):
    AT_ONCE = "as usual"
    IN_LINE = "one suspect at a time, while all others run"
    FIRST = f"alone: everything else waits for up to {HEAD_START:g} seconds"
    WHEN_STABLE = f"alone in the same way, but only when the process has been up for {STABLE_AFTER:g} seconds"
    NEVER = "when somebody asks for it: it is quarantined, and the person is told"


AT_ONCE: Final = RerunPolicy.AT_ONCE  # needed for every normal turn, so it is not looked up on its class


class Evidence(Struct, frozen=True):
    """In how many crashes something was under way, and in how many of them alone."""

    crashes: int = 0
    alone: int = 0


VERDICTS: Final = (
    (Evidence(alone=MOST_ALONE), RerunPolicy.NEVER),
    (Evidence(alone=MOST_ALONE - 1), RerunPolicy.WHEN_STABLE),
    (Evidence(crashes=5), RerunPolicy.FIRST),
    (Evidence(crashes=2), RerunPolicy.IN_LINE),
    (Evidence(), RerunPolicy.AT_ONCE),
)
"""The first row that matches counts. An innocent turn is hit by chance now and then; one that ends the process is in
every crash."""


SuspectStart = Literal["waits", "alone", "in line"]
"""What the next suspect does: it waits until the others have ended, it runs while nothing else does, or it requests a
slot like everybody else."""


def next_start(*, alone: bool, head_start: bool, others_run: bool) -> SuspectStart:
    """`alone`: whether it has to run alone. `head_start`: whether everything else still waits for suspects."""
    if not alone or not head_start:  # after the head start it runs beside others
        return "in line"
    return "waits" if others_run else "alone"


def rerun_policy(crashes: int, alone: int) -> RerunPolicy:
    return next(verdict for least, verdict in VERDICTS if crashes >= least.crashes and alone >= least.alone)
