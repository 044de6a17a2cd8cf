"""Which lanes may start now, when more want to than the machine can bear (TU-21).

Rule 1: fair between sessions. A lane asks for one run at a time, and asks again only when that one has ended;
        so first come, first served means that nobody gets a second run before everybody got a first.
Rule 2: a lane that needs a new process does not hold up those behind it that need none.
Rule 3: a process that only waits for its session's next turn gives way to one that has a turn to run.
"""

from typing import Annotated

from msgspec import Meta, Struct


class Limits(Struct, frozen=True):
    runs: Annotated[int, Meta(ge=1)] = 256
    processes: Annotated[int, Meta(ge=1)] = 8
    """Agent processes alive at once; the gateway sets it to four for each core unless told otherwise."""


class Ask(Struct, frozen=True):
    """A lane that wants to start."""

    session: str
    spawns: bool = False
    """Its agent is a process of its own, and none is alive for this session yet."""


class Load(Struct, frozen=True):
    """What is going on. `resting`: sessions whose process is alive without a run, longest rest first."""

    runs: int = 0
    processes: int = 0
    resting: tuple[str, ...] = ()


class Choice(Struct, frozen=True):
    """Start these, in this order, after ending the processes of those."""

    start: tuple[str, ...] = ()
    retire: tuple[str, ...] = ()


def choose(asks: tuple[Ask, ...], load: Load, limits: Limits) -> Choice:
    """`asks` in the order in which they were made. What is not chosen asks again when a run has ended."""
    waiting = {ask.session for ask in asks}
    retirable = [session for session in load.resting if session not in waiting]
    runs, processes = load.runs, load.processes
    start: list[str] = []
    retire: list[str] = []
    for ask in asks:
        if runs >= limits.runs:
            break
        if ask.spawns:
            if processes < limits.processes:
                processes += 1
            elif retirable:
                retire.append(retirable.pop(0))
            else:
                continue
        start.append(ask.session)
        runs += 1
    return Choice(tuple(start), tuple(retire))
