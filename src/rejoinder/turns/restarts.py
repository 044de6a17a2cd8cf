"""Which of several processes on a store starts again after `/restart`, and when (SC-25).

Rule 1: a process obeys a request that was accepted after it began, unless that request is what started it.
Rule 2: one process at a time has the turn, across its start: until it is back, or until `RESTART_TURN` has passed and
        it is taken to be gone.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

RESTART_TURN: Final = timedelta(seconds=60)
"""For the end of a process, which agents may delay by their grace time, and for its start."""


class RestartRequest(Struct, frozen=True):
    at: datetime
    """When the command was accepted, by the clock of the store."""
    command: str


class RestartTurn(Struct, frozen=True):
    by: str
    until: datetime


def is_obeyed(request: RestartRequest | None, began: datetime, obeyed: tuple[str, ...]) -> bool:
    """Whether a process that began then, and was started by these commands, has to start again."""
    return request is not None and request.at > began and request.command not in obeyed


def is_free(turn: RestartTurn | None, now: datetime) -> bool:
    """Whether another process may take the turn."""
    return turn is None or turn.until <= now


def is_over(turn: RestartTurn | None, returned: str) -> bool:
    """Whether the process that has come back under this name had the turn."""
    return turn is not None and turn.by == returned


def turn_of(holder: str, now: datetime) -> RestartTurn:
    """The turn that a process takes now."""
    return RestartTurn(holder, now + RESTART_TURN)
