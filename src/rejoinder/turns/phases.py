"""The grids of a lane: what an arriving message, and every other event, does in each phase.

The grids define the behaviour, and every cell is filled. lane.py carries them out, and the docs are generated from
them.
"""

from enum import Enum
from typing import Final, TypeVar

from rejoinder.turns.modes import Mode
from rejoinder.turns.signals import (
    DebounceElapsed,
    QueueSettingsChanged,
    RunEnded,
    RunStarted,
    SteerRefused,
    SteerTaken,
    Stop,
)


class Phase(Enum):
    __hash__ = object.__hash__  # by identity, because the hash of `Enum` is a function in Python

    IDLE = "nothing runs, nothing waits"
    GATHERING = "nothing runs; messages wait for quiet"
    STARTING = "a turn was handed out, its agent has not begun"
    RUNNING = "the agent is at work"
    ABORTING = "the run was aborted and has not ended yet"
    SETTLING = "the run has ended, but not said whether it took in what was offered"


# Names, here and below, because looking a member up on its class costs more than the decision.
IDLE, GATHERING, STARTING, RUNNING, ABORTING, SETTLING = Phase
AT_WORK: Final = (STARTING, RUNNING)


class OnArrival(Enum):
    START = "start a run with it at once"
    HOLD = "let it wait"
    OFFER = "let it wait, and offer the waiting messages to the run, oldest first"
    INTERRUPT = "discard the waiting messages, abort the run, run this one next"


class OnEvent(Enum):
    __hash__ = object.__hash__

    NOTHING = "nothing"
    BEGIN = "offer the messages that wait in a steering mode to the run that has begun"
    END = "start what is ready, once an open offer is answered"
    TAKEN = "mark it as steered; continue with the waiting messages"
    REFUSED = "let it wait again, in its old place"
    DRAIN = "start what is ready"
    REVIEW = "offer the messages that wait in a steering mode now"
    CLEAR = "discard the waiting messages"
    ABORT = "discard the waiting messages, abort the run"


Row = TypeVar("Row")
Column = TypeVar("Column")
Cell = TypeVar("Cell")


def _grid(columns: tuple[Column, ...], rows: dict[Row, tuple[Cell, ...]]) -> dict[tuple[Row, Column], Cell]:
    return {(row, column): cell for row, cells in rows.items() for column, cell in zip(columns, cells, strict=True)}


# --- arrivals -----------------------------------------------------------------------------------

START, HOLD, OFFER, INTERRUPT = OnArrival

# fmt: off
ON_ARRIVAL: Final = _grid(tuple(Mode), {
    #           steer  followup collect interrupt  steer-backlog queue
    IDLE:      (START, START,   START,  START,     START,        START),
    GATHERING: (HOLD,  HOLD,    HOLD,   INTERRUPT, HOLD,         HOLD),
    STARTING:  (HOLD,  HOLD,    HOLD,   INTERRUPT, HOLD,         HOLD),
    RUNNING:   (OFFER, HOLD,    HOLD,   INTERRUPT, OFFER,        HOLD),
    ABORTING:  (HOLD,  HOLD,    HOLD,   INTERRUPT, HOLD,         HOLD),
    SETTLING:  (HOLD,  HOLD,    HOLD,   INTERRUPT, HOLD,         HOLD),
})
# fmt: on

# --- all other events ---------------------------------------------------------------------------

NOTHING, BEGIN, END, TAKEN, REFUSED, DRAIN, REVIEW, CLEAR, ABORT = OnEvent

# fmt: off
ON_EVENT: Final = _grid((RunStarted, RunEnded, SteerTaken, SteerRefused, DebounceElapsed, QueueSettingsChanged, Stop), {
    #           RunStarted RunEnded SteerTaken SteerRefused DebounceElapsed QueueSettingsChanged Stop
    IDLE:      (NOTHING,   NOTHING, NOTHING,   NOTHING,     NOTHING,        NOTHING,             CLEAR),
    GATHERING: (NOTHING,   NOTHING, NOTHING,   NOTHING,     DRAIN,          DRAIN,               CLEAR),
    STARTING:  (BEGIN,     END,     NOTHING,   NOTHING,     NOTHING,        NOTHING,             ABORT),
    RUNNING:   (NOTHING,   END,     TAKEN,     REFUSED,     NOTHING,        REVIEW,              ABORT),
    ABORTING:  (NOTHING,   END,     NOTHING,   NOTHING,     NOTHING,        NOTHING,             CLEAR),
    SETTLING:  (NOTHING,   NOTHING, TAKEN,     REFUSED,     NOTHING,        NOTHING,             CLEAR),
})
# fmt: on
