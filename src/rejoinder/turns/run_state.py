"""The life of a run as a value: how far it is, why it was ended from outside, and whether its end is stored.

Rule 1: a run never goes back to an earlier stage. It may skip some, for example if it is stopped while it waits for a
        slot.
Rule 2: the first cause of an end counts. A run that has timed out is not run again just because the gateway then shuts
        down.
Rule 3: a run that has timed out, or is over, may not speak.
"""

from enum import Enum, IntEnum

from msgspec import Struct
from msgspec.structs import replace


class RunStage(IntEnum):
    WAITING = 0
    """For a slot."""
    WORKING = 1
    ENDING = 2
    """The agent has said its last words."""
    OVER = 3
    """Its lane no longer expects anything from it."""


WAITING, WORKING, ENDING, OVER = RunStage  # because a look-up on the class costs more than a comparison


class EndCause(Enum):
    """What ended the run, if it did not end by itself."""

    TIMEOUT = "timeout"
    SHUTDOWN = "shutdown"
    """The gateway shuts down: the next process runs the turn again."""


TIMEOUT, SHUTDOWN = EndCause


class RunState(Struct, frozen=True):
    stage: RunStage = WAITING
    cause: EndCause | None = None
    is_recorded: bool = False
    """Whether the store has recorded its end."""

    @property
    def is_over(self) -> bool:
        return self.stage is OVER

    @property
    def may_speak(self) -> bool:
        return self.stage is not OVER and self.cause is not TIMEOUT

    @property
    def runs_again(self) -> bool:
        return self.cause is SHUTDOWN


def advanced(state: RunState, stage: RunStage) -> RunState:
    return replace(state, stage=max(state.stage, stage))


def ended_by(state: RunState, cause: EndCause) -> RunState:
    return state if state.cause is not None else replace(state, cause=cause)


def recorded(state: RunState) -> RunState:
    return replace(state, is_recorded=True)
