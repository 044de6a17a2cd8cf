"""Which of several processes on a store restarts after `/restart`, and when (SC-25).

Rule 1: a process obeys a request that was accepted after it began, unless it was started by that request.
Rule 2: one process at a time has the turn. It keeps the turn until it is back, or until `RESTART_TURN` has passed and
        it is considered gone.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

RESTART_TURN: Final = timedelta(seconds=60)
"""Time for a process to end, which agents may delay by their grace time, and to start."""


class RestartRequest(Struct, frozen=True):
    at: datetime
    """When the command was accepted, by the clock of the store."""
    command: str


class RestartTurn(Struct, frozen=True):
    by: str
    until: datetime


def is_obeyed(request: RestartRequest | None, began: datetime, obeyed: tuple[str, ...]) -> bool:
    """Whether a process that began at this time, and was started by these commands, has to restart."""
    return request is not None and request.at > began and request.command not in obeyed


def is_free(turn: RestartTurn | None, now: datetime) -> bool:
    """Whether another process may take the turn."""
    return turn is None or turn.until <= now


def is_over(turn: RestartTurn | None, returned: str) -> bool:
    """Whether the process that has come back, formerly named `returned`, had the turn."""
    return turn is not None and turn.by == returned


def turn_of(holder: str, now: datetime) -> RestartTurn:
    """The turn that a process takes now."""
    return RestartTurn(holder, now + RESTART_TURN)
