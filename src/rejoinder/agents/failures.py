"""Failures of agents: a kind for the machine, a sentence for the person, a detail for the operator.

Rule 1: the kind decides what the gateway does next, so it is read from the provider's message, not guessed
from the status alone: a 429 may mean "pay", a 400 may mean "too long".
Rule 2: the sentence names nothing secret and blames nobody; it says what the person can do.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from rejoinder.agents.base import Failed, FailureKind
from rejoinder.documents import is_object
from rejoinder.open_files import TOO_MANY_OPEN
from rejoinder.unicode_repair import as_json, from_json, repair_text

SENTENCES: dict[FailureKind, str] = {
    "billing": "The account behind this agent has no credit left; its operator has to top it up.",
    "rate_limit": "The model is getting too many requests right now; please try again in a moment.",
    "auth": "The model's provider does not accept this agent's key; its operator has to check it.",
    "timeout": "The agent did not answer in time; please try again.",
    "format": "The agent and its model did not understand each other; its operator finds why in the log.",
    "model_not_found": "The model this agent should use does not exist; choose another with /model.",
    "overloaded": "The model is overloaded right now; please try again in a moment.",
    "context_overflow": "The conversation is too long for the model: /compact shortens it, /new starts a new session.",
    "unreachable": "The agent cannot be reached right now; its operator finds the reason in the log.",
    "crashed": "The agent stopped unexpectedly; please try again.",
    "other": "The agent could not answer; its operator finds the reason in the log.",
}

# Read from top to bottom; the first pattern found in the provider's message decides.
_WORDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    (
        "context_overflow",
        re.compile(
            r"context_length_exceeded|context[ _](?:length|window|limit|size)"
            r"|(?:prompt|input) is too long|too many (?:input )?tokens(?!, please wait)|maximum (?:context|prompt)"
            r"|exceeds? the (?:model'?s )?maximum|token count .{0,40}exceeds|exceeded model token limit"
            r"|reduce the length of the (?:messages|prompt|input)|range of input length|more than max tokens"
            r"|tokens \+ `?max_new_tokens|request_too_large"
        ),
    ),
    (
        "billing",
        re.compile(
            r"insufficient_quota|billing|credit balance|payment required"
            r"|insufficient (?:funds|credits|balance)"
        ),
    ),
    (
        "model_not_found",
        re.compile(
            r"model_not_found|model:? .{0,120}(?:not (?:found|exist|supported|available)|does not exist)"
            r"|(?:unknown|invalid|no such) model|not_found_error.{0,40}model|not a valid model"
            r"|model .{0,120}has been (?:deprecated|decommissioned)"
        ),
    ),
    (
        "auth",
        re.compile(
            r"invalid_api_key|(?:incorrect|invalid|missing|no) api[ -]?key"
            r"|api[ -]?key (?:is )?(?:not valid|invalid|expired)|authentication_error|permission_error"
            r"|unauthori[sz]ed|no auth credentials"
        ),
    ),
    ("overloaded", re.compile(r"overloaded")),
    ("rate_limit", re.compile(r"rate[ _]limit|too many (?:requests|tokens)|resource_exhausted|throttl")),
)

_STATUS: dict[int, FailureKind] = {
    400: "format",
    401: "auth",
    402: "billing",
    403: "auth",
    404: "model_not_found",
    408: "timeout",
    413: "context_overflow",
    422: "format",
    429: "rate_limit",
    504: "timeout",
    529: "overloaded",
}


LONGEST_RETRY_AFTER = 86_400.0
"""Seconds; if a provider says to wait longer, it is not asked again today."""

_ANYTHING = msgspec.json.Decoder()


class RunFailed(Exception):
    """Carries a Failed out of an agent's inner calls; the guard makes it the run's last event."""

    def __init__(self, failure: Failed) -> None:
        super().__init__(failure.detail or failure.sentence)
        self.failure = failure


def failed(kind: FailureKind, detail: str = "", *, transient: bool = False, retry_after: float | None = None) -> Failed:
    return Failed(kind, SENTENCES[kind], detail, transient, retry_after)


def too_many_open(calling: str) -> Failed:
    """A failure because no file descriptor is left for a connection or a program; it may work a moment later."""
    sentence = (
        "The gateway has too many files and connections open; its operator has to raise its limit and restart it."
    )
    return Failed("unreachable", sentence, f"{calling}: {TOO_MANY_OPEN}", transient=True)


def failed_response(status: int, body: str, headers: Mapping[str, str], secret: str = "") -> Failed:
    """An HTTP answer that is an error, classified (TU-22)."""
    words = _provider_words(body)
    kind = kind_of(words) or _STATUS.get(status)
    transient = status in (408, 504)
    if kind is None:
        kind = "overloaded" if status >= 500 else "format"
        transient = status >= 500
    detail = f"HTTP {status}: {words[:2000] or 'no body'}"
    return failed(kind, _without(secret, detail), transient=transient, retry_after=_retry_after(headers))


def failed_stream(error: Any, secret: str = "") -> Failed:
    """An error that a provider sent in the middle of a stream that began well."""
    words = _words_of(error)
    code = error.get("code") if is_object(error) else None
    kind = kind_of(words) or (_STATUS.get(code) if isinstance(code, int) else None) or "overloaded"
    return failed(kind, _without(secret, f"in the stream: {words[:2000]}"))


def kind_of(words: str) -> FailureKind | None:
    """The kind of failure an error text describes, if it is clear."""
    words = words.lower()
    return next((kind for kind, pattern in _WORDS if pattern.search(words)), None)


def _provider_words(body: str) -> str:
    try:
        document = from_json(body, _ANYTHING)
    except msgspec.DecodeError:
        return " ".join(body.split())
    return _words_of(document)


def _words_of(document: Any) -> str:
    """`type code message` from the two error shapes in use, or the whole document."""
    error = document.get("error", document) if is_object(document) else document
    if is_object(error):
        said = [error.get(key) for key in ("type", "code", "message", "detail")]
        return repair_text(" ".join(str(word) for word in said if word)) or as_json(error).decode()
    return repair_text(error) if isinstance(error, str) else as_json(error).decode()


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, or the time until a date by the server's own clock; 0 if the header cannot be understood."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _until(value, headers.get("date", ""))
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER) if seconds == seconds else 0.0  # NaN is not equal to itself


def _until(then: str, now: str) -> float:
    there = _date(then)
    return 0.0 if there is None else (there - (_date(now) or datetime.now(UTC))).total_seconds()


def _date(text: str) -> datetime | None:
    """An HTTP date, which is in GMT even if it does not say so."""
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def _without(secret: str, text: str) -> str:
    return text.replace(secret, "***") if secret else text
