"""The possible results of reading a directive's argument."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct


class Word(Struct, frozen=True):
    text: str
    end: int


class ValidArgument(Struct, frozen=True):
    """Valid argument words; `end` is where the last of them ends."""

    value: Any
    end: int


class InvalidArgument(Struct, frozen=True):
    """Argument words that were meant for this directive and are wrong; `problem` says what is valid."""

    problem: str
    end: int


Argument = ValidArgument | InvalidArgument | None
"""None if no word here belongs to the directive."""

ReadArgument = Callable[[Iterator[Word]], Argument]

_IN_LINE = re.compile(r"[^\S\n]*(\S+)")
_ANYWHERE = re.compile(r"\s*(\S+)")


def words(text: str, position: int, *, in_line: bool) -> Iterator[Word]:
    """The words from `position` on; with `in_line` (in prose) they end with the line."""
    pattern = _IN_LINE if in_line else _ANYWHERE
    while found := pattern.match(text, position):
        yield Word(found[1], found.end())
        position = found.end()


def skip_blanks(text: str, position: int) -> int:
    """Where the next word begins; the end of the text when there is none."""
    if position < len(text) and not text[position].isspace():
        return position
    found = _NOT_BLANK.search(text, position)
    return found.start() if found else len(text)


_NOT_BLANK = re.compile(r"\S|\Z")


def quoted(word: str) -> str:
    """A word as an answer quotes it; a long one is cut so that it can still be recognised."""
    return repr(word if len(word) <= _RECOGNISABLE else f"{word[:_RECOGNISABLE]}…")


_RECOGNISABLE = 60


def option(word: str) -> tuple[str, str] | None:
    """`key=value` or `key:value`, as (key, value)."""
    found = _OPTION.fullmatch(word)
    return (found[1].lower(), found[2]) if found else None


_OPTION = re.compile(r"([A-Za-z_]+)[=:](\S*)")


def one_of(valid: tuple[str, ...]) -> str:
    return "valid: " + ", ".join(valid)
