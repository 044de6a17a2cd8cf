"""Stands where the inbound floor goes. So far a message is finalised and starts a turn, or stops the run."""

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Inbound


class StartTurn(Struct, frozen=True):
    message: Inbound


class StopRun(Struct, frozen=True):
    """IN-70: ends what runs and forgets what waits."""


Decision = StartTurn | StopRun


def decide(message: Inbound) -> Decision:
    """IN-3: line ends become `\\n`, every other byte stays."""
    text = message.text.replace("\r\n", "\n").replace("\r", "\n")
    if text.strip() == "/stop":
        return StopRun()
    return StartTurn(replace(message, text=text))
