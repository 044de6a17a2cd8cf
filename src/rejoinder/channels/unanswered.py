"""Calls that a platform did not answer, and what follows from that: pure, the same on every platform."""

from msgspec import Struct

from rejoinder.channels.base import RetryAfter, Unknown


class Unreached(Struct, frozen=True):
    """The request never left us: it cannot have been obeyed."""

    reason: str


class Unheard(Struct, frozen=True):
    """The request left us, and no answer came that could be read: it may have been obeyed."""

    reason: str


def unanswered(answer: Unreached | Unheard) -> RetryAfter | Unknown:
    return RetryAfter(None, answer.reason) if isinstance(answer, Unreached) else Unknown(answer.reason)
