"""Calls that a platform did not answer, and what follows from that: pure, the same on every platform."""

from msgspec import Struct

from rejoinder.channels.base import RetryAfter, Unknown


class NotSent(Struct, frozen=True):
    """The request never left us: it cannot have been obeyed."""

    reason: str
    ours: bool = False
    """The fault lies with this process: nothing is said of the platform."""


class NoResponse(Struct, frozen=True):
    """The request left us, and no answer came that could be read: it may have been obeyed."""

    reason: str
    ours: bool = False


def outcome_without_response(answer: NotSent | NoResponse) -> RetryAfter | Unknown:
    return RetryAfter(None, answer.reason) if isinstance(answer, NotSent) else Unknown(answer.reason)
