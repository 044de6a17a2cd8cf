"""The grids of a lane: what an arriving message, and every other event, does in each phase.

They define the behaviour and are complete by construction; lane.py carries them out, and the docs are generated from
them.
"""

from enum import Enum
from typing import Final, TypeVar

from rejoinder.turns.modes import Mode
from rejoinder.turns.signals import ModeChanged, Quiet, RunEnded, RunStarted, SteerRefused, SteerTaken, Stop


class Phase(Enum):
    IDLE = "nothing runs, nothing waits"
    GATHERING = "nothing runs; what waits is waiting for quiet"
    STARTING = "a turn was handed out, its agent has not begun"
    RUNNING = "the agent is at work"
    ABORTING = "the run was aborted and has not ended yet"
    SETTLING = "the run has ended, but not said whether it took in what was offered"


class OnArrival(Enum):
    START = "start a run with it at once"
    HOLD = "let it wait"
    OFFER = "let it wait, and offer what waits to the run, oldest first"
    INTERRUPT = "discard what waits, abort the run, let it be next"


class OnEvent(Enum):
    NOTHING = "nothing"
    BEGIN = "offer what waits in a steering mode to the run that has begun"
    END = "start what is ready, once an open offer is answered"
    TAKEN = "name it steered; go on with what waits"
    REFUSED = "let it wait again, in its old place"
    DRAIN = "start what is ready"
    REVIEW = "offer what waits in a steering mode now"
    CLEAR = "discard what waits"
    ABORT = "discard what waits, abort the run"


Row = TypeVar("Row")
Column = TypeVar("Column")
Cell = TypeVar("Cell")


def _grid(columns: tuple[Column, ...], rows: dict[Row, tuple[Cell, ...]]) -> dict[tuple[Row, Column], Cell]:
    return {(row, column): cell for row, cells in rows.items() for column, cell in zip(columns, cells, strict=True)}


# --- what an arrival does -----------------------------------------------------------------------

START, HOLD, OFFER, INTERRUPT = OnArrival

# fmt: off
ON_ARRIVAL: Final = _grid(tuple(Mode), {
    #                 steer  followup collect interrupt  steer-backlog queue
    Phase.IDLE:      (START, START,   START,  START,     START,        START),
    Phase.GATHERING: (HOLD,  HOLD,    HOLD,   INTERRUPT, HOLD,         HOLD),
    Phase.STARTING:  (HOLD,  HOLD,    HOLD,   INTERRUPT, HOLD,         HOLD),
    Phase.RUNNING:   (OFFER, HOLD,    HOLD,   INTERRUPT, OFFER,        HOLD),
    Phase.ABORTING:  (HOLD,  HOLD,    HOLD,   INTERRUPT, HOLD,         HOLD),
    Phase.SETTLING:  (HOLD,  HOLD,    HOLD,   INTERRUPT, HOLD,         HOLD),
})
# fmt: on

# --- what every other event does ----------------------------------------------------------------

NOTHING, BEGIN, END, TAKEN, REFUSED, DRAIN, REVIEW, CLEAR, ABORT = OnEvent

# fmt: off
ON_EVENT: Final = _grid((RunStarted, RunEnded, SteerTaken, SteerRefused, Quiet, ModeChanged, Stop), {
    #                 RunStarted RunEnded SteerTaken SteerRefused Quiet    ModeChanged Stop
    Phase.IDLE:      (NOTHING,   NOTHING, NOTHING,   NOTHING,     NOTHING, NOTHING,    CLEAR),
    Phase.GATHERING: (NOTHING,   NOTHING, NOTHING,   NOTHING,     DRAIN,   DRAIN,      CLEAR),
    Phase.STARTING:  (BEGIN,     END,     NOTHING,   NOTHING,     NOTHING, NOTHING,    ABORT),
    Phase.RUNNING:   (NOTHING,   END,     TAKEN,     REFUSED,     NOTHING, REVIEW,     ABORT),
    Phase.ABORTING:  (NOTHING,   END,     NOTHING,   NOTHING,     NOTHING, NOTHING,    CLEAR),
    Phase.SETTLING:  (NOTHING,   NOTHING, TAKEN,     REFUSED,     NOTHING, NOTHING,    CLEAR),
})
# fmt: on
