"""Calls that a platform did not answer, and what follows from that: pure, and the same for every platform."""

from msgspec import Struct

from rejoinder.channels.base import RetryAfter, Unknown


class NotSent(Struct, frozen=True):
    """The request never left this process, so the platform cannot have carried it out."""

    reason: str
    ours: bool = False
    """The fault lies with this process: nothing is said of the platform."""


class NoResponse(Struct, frozen=True):
    """The request left this process, but no readable answer came: the platform may have carried it out."""

    reason: str
    ours: bool = False


def outcome_without_response(answer: NotSent | NoResponse) -> RetryAfter | Unknown:
    return RetryAfter(None, answer.reason) if isinstance(answer, NotSent) else Unknown(answer.reason)
