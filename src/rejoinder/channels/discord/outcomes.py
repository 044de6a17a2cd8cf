"""What Discord's answer to a call means for us (DE-31): one table of its refusals.

Rule 1: a request that was not written cannot have been carried out, so it may be sent again.
Rule 2: a request that was written but not answered may have been carried out: nobody knows.
"""

import re
from typing import Any

from msgspec import Struct

from rejoinder.channels.base import Refusal, Rejected, RetryAfter, Unknown
from rejoinder.channels.no_response import NoResponse, NotSent, outcome_without_response


class Ok(Struct, frozen=True):
    result: Any


class Refused(Struct, frozen=True):
    """Discord refused the call, with its own error number if it has one, or else 0."""

    status: int
    code: int
    said: str
    retry_after: float | None = None
    everywhere: bool = False
    """Whether the limit applies to the whole account."""
    foreign: bool = False
    """Whether something on the way answered instead of Discord, which has not seen the request."""


Answer = Ok | Refused | NotSent | NoResponse

UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_LARGE, TOO_MANY, SERVER_FAULT = 401, 403, 404, 413, 429, 500
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UNKNOWN_EMOJI, UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION = (
    10003,
    10008,
    10014,
    10015,
    10062,
)
ALREADY_ANSWERED, THREAD_EXISTS, INVALID_FORM = 40060, 160004, 50035
NO_ACCESS, NO_PERMISSION, INVALID_WEBHOOK_TOKEN = 50001, 50013, 50027
ARCHIVED = 50083
"""The thread accepts no change until it is reopened; a new message reopens it."""
NO_TEXT = 50008
"""No text can be sent there, for example into a forum, which only has posts."""

REFUSALS: dict[int, Refusal] = {
    UNKNOWN_CHANNEL: "gone",
    10004: "gone",  # unknown guild
    50173: "kind",  # no voice messages in this channel: it goes as a file
    UNKNOWN_MESSAGE: "target",
    40001: "account",  # unauthorized
    50001: "gone",  # no access to the channel
    50005: "target",  # a message of another user cannot be edited
    50007: "gone",  # this person takes no messages of the bot
    NO_TEXT: "gone",
    50013: "gone",  # no permission
    ARCHIVED: "gone",
    50278: "gone",  # this person has no server in common with the bot
    160005: "gone",  # the thread is locked
}
SLOW_DOWN = frozenset({20016, 20022, 20028, 31001, 40062})
"""Limits that come with a code of their own: slow mode, and writes that are too fast."""

_REFERENCE = re.compile(r"message_reference|REPLIES_|MESSAGE_REFERENCE_", re.IGNORECASE)


def refusal(answer: Refused) -> Rejected | RetryAfter:
    said = f"{answer.said} ({answer.code})" if answer.code else answer.said
    if answer.status == TOO_MANY or answer.code in SLOW_DOWN:
        return RetryAfter(answer.retry_after or 1.0, said, limited=True, everywhere=answer.everywhere)
    if answer.status >= SERVER_FAULT or answer.foreign:
        return RetryAfter(None, said)
    if answer.status == UNAUTHORIZED:
        return Rejected(said, "account")
    if answer.status == TOO_LARGE:
        return Rejected(f"the files are too large for this place: {said}")
    if answer.code == INVALID_FORM:
        return Rejected(said, "target" if _REFERENCE.search(answer.said) else "formatting")
    if answer.code in REFUSALS:
        return Rejected(said, REFUSALS[answer.code])
    return Rejected(said, "gone" if answer.code == 0 and answer.status in (FORBIDDEN, NOT_FOUND) else "other")


def failure(answer: Refused | NotSent | NoResponse) -> Rejected | RetryAfter | Unknown:
    return refusal(answer) if isinstance(answer, Refused) else outcome_without_response(answer)
