"""Decides what follows from a platform's response to an operation, without I/O (DE-31, DE-32, DE-13, OD-62).

Rule 1: an operation that certainly did not arrive is tried again; one that the platform will never accept is tried once
        more in a reduced form.
Rule 2: an operation that may have arrived is not repeated, unless that is harmless or configured.
Rule 3: an operation that adds no text, such as the opening of a draft, is never left for a person to decide.
Rule 4: where the platform can be asked, it is asked for half a minute whether a message is there (`judge_look`).
docs/delivery.md has the whole grid, generated from `judge`.
"""

from typing import Final, Literal

from msgspec import Struct

from rejoinder.events import Route
from rejoinder.events.outcomes import Delivered, Outcome, Rejected, RetryAfter, Unknown
from rejoinder.outbound.operations import Amend, Open, Operation, React, Remove, Say, Sign

OnUnknown = Literal["hold", "resend"]
"""What to do with a message if it is unknown whether it arrived (DU-3)."""
Recognises = Literal["keys", "messages", "openings", "nothing"]
"""How to find out about an unanswered call: the platform accepts each key only once; it can be asked for any message of
ours, or only for the opening of a draft; or there is no way to tell."""
Omission = Literal["formatting", "message", "target", "thread", "kind"]
"""What a later try leaves out: the format, the message to edit, the message to reply to, the thread to open, or the
display of a file by its kind."""

LONGEST_PAUSE: Final = 30.0
"""Seconds, before jitter: this bounds how long after an outage the waiting messages are sent."""
MOST_TRIES: Final = 3000
"""About a day of trying: platforms have been down for a night, and messages of that night are sent after it."""
MOST_TRIES_OF_A_SIGN: Final = 5
"""A reaction or removal that keeps failing must not hold up a conversation."""
MOST_LOOKS: Final = 8
LOOK_PAUSE: Final = 1.0
"""How often the platform is asked whether an unconfirmed part is there, and by how many seconds the pause grows each
time: about half a minute in all (DU-3)."""


class Arrived(Struct, frozen=True):
    """`place`: where the message is, if not where it was sent."""

    message: str
    place: Route | None = None


class Retry(Struct, frozen=True):
    """`omits`: what the next try leaves out. `everywhere`: the whole account waits for that long. `refused`: the
    account waits until the platform accepts a call again, and one is tried from time to time."""

    seconds: float
    error: str
    counted: bool = True
    everywhere: bool = False
    refused: bool = False
    omits: "Omission | None" = None


class LookUp(Struct, frozen=True):
    """Ask the platform whether the message is there."""

    error: str


class HoldBack(Struct, frozen=True):
    error: str


class Forget(Struct, frozen=True):
    """It makes no difference whether it arrived, so nobody has to decide anything."""

    error: str


class GiveUp(Struct, frozen=True):
    error: str


class LookAgain(Struct, frozen=True):
    """Ask once more after so many seconds. `counted`: this was an answer, and not a limit of the platform."""

    seconds: float
    counted: bool = True
    everywhere: bool = False


class Resend(Struct, frozen=True):
    """Nobody knows whether it is there, and it is sent again, as configured."""


Verdict = Arrived | Retry | LookUp | HoldBack | Forget | GiveUp
LookVerdict = Arrived | Retry | LookAgain | Resend | HoldBack | Forget


def judge(
    outcome: Outcome,
    operation: Operation,
    recognises: Recognises,
    *,
    tries: int,
    omitted: frozenset[str] = frozenset(),
    on_unknown: OnUnknown = "hold",
    jitter: float = 0.5,
) -> Verdict:
    """`tries`: the number of tries, this one included; `jitter`: a number between 0 and 1."""
    match outcome:
        case Delivered(message=message, place=place):
            return Arrived(message, place)
        case Rejected(reason=reason, why="formatting") if _has_words(operation) and "formatting" not in omitted:
            return Retry(0.0, reason, counted=False, omits="formatting")
        case Rejected(reason=reason, why="target") if (lost := _lost_target(operation, omitted)) is not None:
            return Retry(0.0, reason, counted=False, omits=lost)
        case Rejected(reason=reason, why="thread") if _opens_thread(operation) and "thread" not in omitted:
            return Retry(0.0, reason, counted=False, omits="thread")
        case Rejected(reason=reason, why="kind") if _shows_files(operation) and "kind" not in omitted:
            return Retry(0.0, reason, counted=False, omits="kind")
        case Rejected(reason=reason, why="account"):
            return Retry(0.0, reason, counted=False, refused=True)
        case Rejected(reason=reason):
            return _ended(operation, reason)
        case RetryAfter(limited=True):
            seconds = outcome.seconds if outcome.seconds is not None else _pause(tries, jitter)
            return Retry(seconds, outcome.reason or "too fast", counted=False, everywhere=outcome.everywhere)
        case RetryAfter(seconds=seconds, reason=reason):
            return _again(operation, seconds or 0.0, reason or "not taken", tries, jitter)
        case Unknown(reason=reason):
            is_edit = isinstance(operation, Amend) and "message" not in omitted
            if recognises == "keys" or is_edit or isinstance(operation, React | Remove):
                return _again(operation, 0.0, reason, tries, jitter)
            if recognises == "messages" or (isinstance(operation, Open) and recognises == "openings"):
                return LookUp(reason)
            if on_unknown == "resend":
                return _again(operation, 0.0, reason, tries, jitter)
            return Forget(reason) if isinstance(operation, Open) else HoldBack(reason)


def judge_look(
    found: Outcome, operation: Operation, error: str, *, looks: int, on_unknown: OnUnknown = "hold"
) -> LookVerdict:
    """What follows when the platform has been asked whether a part is there. `error`: why its result is unknown;
    `looks`: the number of looks, this one included."""
    match found:
        case Delivered(message=message, place=place):
            return Arrived(message, place)
        case RetryAfter(limited=True):
            seconds = found.seconds if found.seconds is not None else LOOK_PAUSE
            return LookAgain(seconds, counted=False, everywhere=found.everywhere)
        case RetryAfter():
            return Retry(0.0, error)
        case Rejected(reason=reason) if isinstance(operation, Open):
            return Forget(reason)
        case Rejected() | Unknown():  # that it cannot be asked for says nothing about a message
            if looks < MOST_LOOKS:
                return LookAgain(looks * LOOK_PAUSE)
            if isinstance(operation, Open):
                return Forget(error)
            return Resend() if on_unknown == "resend" else HoldBack(error)


def _again(operation: Operation, seconds: float, reason: str, tries: int, jitter: float) -> Verdict:
    if tries >= (MOST_TRIES_OF_A_SIGN if isinstance(operation, Sign) else MOST_TRIES):
        return _ended(operation, f"{reason}; given up after {tries} tries")
    return Retry(max(seconds, _pause(tries, jitter)), reason)


def _ended(operation: Operation, reason: str) -> Verdict:
    """The opening of a draft is not kept for resending by hand, because it would appear beside its answer."""
    adds_nothing = (
        isinstance(operation, Open)
        or (isinstance(operation, Amend) and not operation.resend_if_gone)
        or _is_low_priority(operation)
    )
    return Forget(reason) if adds_nothing else GiveUp(reason)


def _is_low_priority(operation: Operation) -> bool:
    """A message to one person about a button they have just pressed or a command they chose is of no use later
    (CH-3)."""
    return (
        isinstance(operation, Say) and operation.part.only_for is not None and operation.part.reply_context is not None
    )


def _pause(tries: int, jitter: float) -> float:
    """Twice as long each time; jittered, so that calls that failed together are not retried together."""
    return min(LONGEST_PAUSE, 2.0 ** min(max(tries, 1) - 1, 10)) * (0.5 + jitter)


def _has_words(operation: Operation) -> bool:
    """Also true of text without any format: a platform that refused it by mistake may accept it the next time."""
    return isinstance(operation, Say | Amend)


def _opens_thread(operation: Operation) -> bool:
    """Whether the operation opens a thread. A draft is not opened in another place; its answer is sent in one piece."""
    return isinstance(operation, Say) and operation.part.opens is not None


def _shows_files(operation: Operation) -> bool:
    return isinstance(operation, Say) and any(file.kind != "document" for file in operation.part.files)


def _lost_target(operation: Operation, omitted: frozenset[str]) -> Omission | None:
    """The reference to a missing message that can be omitted, if there is one."""
    match operation:
        case Amend() if "message" not in omitted:
            return "message" if operation.resend_if_gone else None
        case Say(part=part) | Open(part=part) | Amend(part=part) if part.reply_to is not None or "thread" in omitted:
            return None if "target" in omitted else "target"  # without its thread it replies to what opened that
        case _:
            return None
