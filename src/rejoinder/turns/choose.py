"""Chooses which lanes may start now, if more want to than the machine can run (TU-21).

Rule 1: fair between sessions. A lane asks for one run at a time, and asks again only when that one has ended;
        so with first come, first served no lane gets a second run before every waiting lane has had its first.
Rule 2: a lane that needs a new process does not hold up those behind it that need none.
Rule 3: a process that is idle between turns gives way to one that has a turn to run.
"""

from typing import Annotated

from msgspec import Meta, Struct


class SlotLimits(Struct, frozen=True):
    runs: Annotated[int, Meta(ge=1)] = 256
    processes: Annotated[int, Meta(ge=1)] = 8
    """Agent processes alive at once; the gateway sets it to four for each core unless told otherwise."""


class StartRequest(Struct, frozen=True):
    """A lane that wants to start. `process`: the process in which it will run, which several sessions may share."""

    session: str
    process: str | None = None


class SlotUse(Struct, frozen=True):
    """The current load: the number of runs, the processes in which they run, and the processes without a run, the
    longest idle first."""

    runs: int = 0
    busy: tuple[str, ...] = ()
    resting: tuple[str, ...] = ()


class Selection(Struct, frozen=True):
    """Lanes to start, in this order, after ending these processes."""

    start: tuple[str, ...] = ()
    retire: tuple[str, ...] = ()


def choose(asks: tuple[StartRequest, ...], load: SlotUse, limits: SlotLimits) -> Selection:
    """`asks` in the order they were made. A lane that is not chosen asks again when a run has ended."""
    wanted = {ask.process for ask in asks}
    retirable = [process for process in load.resting if process not in wanted]
    alive = {*load.busy, *load.resting}
    runs = load.runs
    start: list[str] = []
    retire: list[str] = []
    for ask in asks:
        if runs >= limits.runs:
            break
        if ask.process is not None and ask.process not in alive:
            if len(alive) >= limits.processes:
                if not retirable:
                    continue
                retire.append(retirable.pop(0))
                alive.remove(retire[-1])
            alive.add(ask.process)
        start.append(ask.session)
        runs += 1
    return Selection(tuple(start), tuple(retire))
