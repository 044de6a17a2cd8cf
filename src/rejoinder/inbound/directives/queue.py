"""`/queue`: what happens to messages that come while the agent works (IN-53)."""

import re
from collections.abc import Iterator
from typing import get_args

from msgspec.structs import replace

from rejoinder.inbound.directives.argument import Argument, InvalidArgument, ValidArgument, Word, one_of, option, quoted
from rejoinder.inbound.directives.levels import by_word
from rejoinder.session import QueueChoice, QueueDrop, QueueMode

MODES: tuple[QueueMode, ...] = get_args(QueueMode)
DROPS: tuple[QueueDrop, ...] = get_args(QueueDrop)
DEFAULTS = ("default", "reset")
ALSO_MODES: dict[str, tuple[str, ...]] = {
    "steer": ("steering",),
    "followup": ("follow-up", "followups"),
    "collect": ("coalesce", "batch"),
    "interrupt": ("interrupts", "abort"),
    "steer-backlog": ("steer+backlog", "steer_backlog"),
    "queue": ("queued",),
}
ALSO_DROPS: dict[str, tuple[str, ...]] = {
    "old": ("oldest",),
    "new": ("newest",),
    "summarize": ("summarise", "summary"),
}
UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
USAGE = f"{'|'.join(MODES)} debounce=<n>{'|'.join(UNITS)} cap=<n> drop={'|'.join(DROPS)}, or {'|'.join(DEFAULTS)}"

STEERING: tuple[QueueMode, ...] = ("steer", "steer-backlog")

_MODES = by_word({mode: ALSO_MODES[mode] for mode in MODES})
_DROPS = by_word({drop: ALSO_DROPS[drop] for drop in DROPS})
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?")
_COUNT = re.compile(r"\d{1,9}")


def read_queue(words: Iterator[Word]) -> Argument:
    choice, end, problem = QueueChoice(), None, None
    for word in words:
        said = word.text.lower()
        if said in DEFAULTS and problem is None:
            return _default(choice, end, word, next(words, None))
        pair = option(word.text)
        if said in _MODES:
            choice = replace(choice, mode=_MODES[said])
        elif pair is not None and pair[0] in _READERS:
            key, value = pair
            changed = _READERS[key](choice, value.lower())
            if isinstance(changed, str):
                problem = problem or f"{key} of /queue cannot be {quoted(value)}; {changed}"
            else:
                choice = changed
        elif said not in DEFAULTS:
            break
        end = word.end
    if end is None:
        return None
    return InvalidArgument(problem, end) if problem else ValidArgument(choice, end)


def cannot_steer(agent: str) -> str:
    """The sentence for a person who wants to steer an agent that cannot be steered (TU-11)."""
    return f"{agent} cannot take a message into a running turn: the message waits for a turn of its own."


def _default(choice: QueueChoice, end: int | None, word: Word, following: Word | None) -> Argument:
    """Reads `default`. It sets everything, so an option next to it is an error; after options and before prose it is
    prose."""
    if end is not None:
        return (
            ValidArgument(choice, end)
            if following
            else InvalidArgument(f"{word.text} must be the only word; valid: {USAGE}", word.end)
        )
    pair = option(following.text) if following else None
    if following and pair and pair[0] in _READERS:
        return InvalidArgument(f"{word.text} must be the only word, without {pair[0]}; valid: {USAGE}", following.end)
    return ValidArgument(QueueChoice(), word.end)


def _debounce(choice: QueueChoice, value: str) -> QueueChoice | str:
    found = _DURATION.fullmatch(value)
    if not found:
        return "valid: a number with ms, s, m or h, for example 500 or 2s"
    if "." in found[1] and not found[2]:
        return f"add a unit: {value}s or {value}m"
    return replace(choice, debounce_ms=round(float(found[1]) * UNITS[found[2] or "ms"]))


def _cap(choice: QueueChoice, value: str) -> QueueChoice | str:
    if not _COUNT.fullmatch(value) or int(value) < 1:
        return "valid: a whole number of at least 1"
    return replace(choice, cap=int(value))


def _drop(choice: QueueChoice, value: str) -> QueueChoice | str:
    return replace(choice, drop=_DROPS[value]) if value in _DROPS else one_of(DROPS)


_READERS = {"debounce": _debounce, "cap": _cap, "drop": _drop}
