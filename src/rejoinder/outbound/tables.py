"""What follows from each answer of a platform, as Markdown; docs/delivery.md is filled from `BLOCKS`.

The table is made by calling `judge` itself, case by case, so that it cannot differ from the behaviour.
"""

from collections.abc import Callable
from typing import Final, assert_never

from msgspec import Struct

from rejoinder.events import Part, Route
from rejoinder.events.outcomes import Delivered, Outcome, Rejected, RetryAfter, Unknown
from rejoinder.outbound.operations import Amend, Open, Operation, React, Remove, Say
from rejoinder.outbound.verdict import (
    Arrived,
    Forget,
    GiveUp,
    HoldBack,
    LookUp,
    OnUnknown,
    Recognises,
    Retry,
    Verdict,
    judge,
)
from rejoinder.tables import table

MEANINGS: Final = {
    "arrived": "the receipt is kept; a message has a handle",
    "again": "after twice as long each time, up to half a minute; a message for about a day, a reaction or a removal "
    "five times",
    "at its time": "again when the platform says, which does not count as a try; until then nothing goes to that chat "
    "or account",
    "in plain words": "once more, in its place and under a new key; dead when that is refused too",
    "without the reply": "once more as a message of its own; dead when that is refused too",
    "as a message": "once more, not as an edit: the message it was for is gone",
    "waits": "everything of that account waits; one message is tried after 5 seconds, then at longer intervals, up to "
    "a minute, and at once after a restart; nothing is given up; `/health` and the console show it",
    "looked up": "sent again only when it is surely not there",
    "held": "never twice: listed as unconfirmed, sent again by `/resend`",
    "forgotten": "nothing is missed: the words are there, or come in a message of their own",
    "dead": "listed by `rejoinder dead`, told by the hook `delivery_failed`, sent again by `/resend`",
}


class _Case(Struct, frozen=True):
    outcome: Outcome
    recognises: Recognises = "nothing"
    on_unknown: OnUnknown = "hold"


_HERE = Route("telegram", "1")
_WORDS, _REPLY = Part(_HERE, "words"), Part(_HERE, "words", reply_to="1")

_OPERATIONS: Final[dict[str, Operation]] = {
    "a message": Say(_WORDS),
    "a reply": Say(_REPLY),
    "the opening of a draft": Open(_WORDS),
    "an edit": Amend("1", _WORDS),
    "an edit that takes buttons away": Amend("1", _WORDS, resend_if_gone=False),
    "a reaction": React("1", "👍"),
    "a removal": Remove("1"),
}

_CASES: Final[dict[str, _Case]] = {
    "delivered": _Case(Delivered("1")),
    "rejected, `formatting`": _Case(Rejected("", "formatting")),
    "rejected, `target`": _Case(Rejected("", "target")),
    "rejected, `account`": _Case(Rejected("", "account")),
    "rejected, `gone`": _Case(Rejected("", "gone")),
    "rejected, `other`": _Case(Rejected("", "other")),
    "retry": _Case(RetryAfter()),
    "limited": _Case(RetryAfter(limited=True)),
    "unknown, where a key is kept": _Case(Unknown(""), "keys"),
    "unknown, where it can be looked up": _Case(Unknown(""), "messages"),
    "unknown, where only an opening can be looked up": _Case(Unknown(""), "openings"),
    'unknown, `on_unknown = "hold"`': _Case(Unknown("")),
    'unknown, `on_unknown = "resend"`': _Case(Unknown(""), on_unknown="resend"),
}


def outcome_table() -> str:
    rows = [
        [
            said,
            *(
                _word(judge(case.outcome, operation, case.recognises, tries=1, on_unknown=case.on_unknown))
                for operation in _OPERATIONS.values()
            ),
        ]
        for said, case in _CASES.items()
    ]
    meanings = "\n".join(f"- **{word}**: {meaning}" for word, meaning in MEANINGS.items())
    return f"{table(['outcome', *_OPERATIONS], rows)}\n\n{meanings}"


def _word(verdict: Verdict) -> str:
    match verdict:
        case Arrived():
            return "arrived"
        case Retry(omits="formatting"):
            return "in plain words"
        case Retry(omits="target"):
            return "without the reply"
        case Retry(omits="message"):
            return "as a message"
        case Retry(refused=True):
            return "waits"
        case Retry(counted=counted):
            return "again" if counted else "at its time"
        case LookUp():
            return "looked up"
        case HoldBack():
            return "held"
        case Forget():
            return "forgotten"
        case GiveUp():
            return "dead"
        case _:
            assert_never(verdict)


BLOCKS: Final[dict[str, Callable[[], str]]] = {"delivery-outcomes": outcome_table}
