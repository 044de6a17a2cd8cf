"""What Telegram's answer to a call means for us (DE-31): one table of its refusals.

Rule 1: a request that was not written cannot have been carried out, so it may be sent again.
Rule 2: a request that was written but not answered may have been carried out: nobody knows.
Rule 3: descriptions are matched by the words that have stayed the same over the years.
"""

import re

from msgspec import Raw, Struct

from rejoinder.channels.base import Refusal, Rejected, RetryAfter, Unknown
from rejoinder.channels.no_response import NoResponse, NotSent, outcome_without_response


class Ok(Struct, frozen=True):
    result: Raw


class Refused(Struct, frozen=True):
    """Telegram refused the call, with its description of the reason."""

    code: int
    description: str
    retry_after: float | None = None
    moved_to: int | None = None
    """The group has become a supergroup, under this id."""
    foreign: bool = False
    """Whether a proxy on the way answered instead of Telegram, which has not seen the request."""


Answer = Ok | Refused | NotSent | NoResponse

UPGRADED = "group chat was upgraded to a supergroup chat"
"""The answer to a call that names a message that stayed in the old group."""

# The first row whose pattern is found in the description applies.
REFUSALS: tuple[tuple[int, str, Refusal], ...] = (
    (400, r"can't parse (entities|MessageEntity)|entity (begin|URL)|incorrect (offset|length)", "formatting"),
    (400, r"ENTIT(Y|IES)_", "formatting"),
    (400, r"message to be replied not found|repl(y|ied) message not found|REPLY_MESSAGE_ID_INVALID", "target"),
    (400, UPGRADED, "target"),
    (400, r"message to (edit|react) not found|message can't be edited|MESSAGE_ID_INVALID", "target"),
    (
        400,
        r"PHOTO_INVALID|IMAGE_PROCESS_FAILED|PHOTO_EXT_INVALID|PHOTO_SAVE_FILE_INVALID|VOICE_MESSAGES_FORBIDDEN",
        "kind",
    ),
    (400, r"wrong file type|VIDEO_|AUDIO_", "kind"),
    (400, r"chat not found|PEER_ID_INVALID|group chat was deactivated|user is deactivated", "gone"),
    (400, r"not enough rights|have no rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|thread not found|TOPIC_", "gone"),
    (401, r"", "account"),
    (403, r"", "gone"),
    (404, r"", "gone"),  # the token was accepted at the start, so the unknown thing is not the bot
)

ALREADY_SO = re.compile("message is not modified|message to delete not found")
"""Refusals that say that everything is already as requested."""

BAD_REQUEST = 400
SERVER_FAULT = 500
TOO_MANY = 429
TOO_LARGE = 413


def refusal(answer: Refused) -> Rejected | RetryAfter:
    if answer.code == TOO_MANY:
        return RetryAfter(answer.retry_after or 1.0, answer.description, limited=True)
    if answer.code >= SERVER_FAULT or answer.foreign:
        return RetryAfter(None, answer.description)
    for code, pattern, why in REFUSALS:
        if code == answer.code and re.search(pattern, answer.description):
            return Rejected(answer.description, why)
    return Rejected(answer.description)


def failure(answer: Refused | NotSent | NoResponse) -> Rejected | RetryAfter | Unknown:
    return refusal(answer) if isinstance(answer, Refused) else outcome_without_response(answer)
