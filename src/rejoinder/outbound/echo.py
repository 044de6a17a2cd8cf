"""Whether a granted action only repeats what a person wrote (OD-53).

A person may write `<send-message chat="C1">...</send-message>` into a chat, and an agent that quotes it would act. A
directive in an inbound text, in code or not, is that person's and not the agent's. The same reader reads both sides, so
the comparison is of what was read, not of how it was written.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from msgspec import Struct

from rejoinder.events import Directive
from rejoinder.outbound.actions import LONGEST
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.outbound.reader import ReplyReader
from rejoinder.outbound.tag_reader import BLOCK

MOST_WRITTEN = 50
"""How many places of a text are read. A text with more is read no further: everything that it might contain counts as
an echo."""

_PIECE = 2048
_LINE = re.compile(r"""\[\[[^\]\n]*\]\]|[^:\n]*:[ \t]*(?:"[^"\n]*"|'[^'\n]*'|[^\s`]+)""")


class _Written(Struct, frozen=True):
    """A directive found in a text. `words`: those of its body; None: any body."""

    name: str
    args: dict[str, Any]
    words: list[str] | None


class _Texts(Struct, frozen=True):
    written: tuple[_Written, ...] = ()
    is_flood: bool = False


def is_echo(directive: Directive, texts: Iterable[str], registry: Registry) -> bool:
    words = _words(directive.body)
    for text in texts:
        theirs = _written(text, registry)
        if theirs.is_flood or any(
            each.name == directive.name and each.args == directive.args and each.words in (None, words)
            for each in theirs.written
        ):
            return True
    return False


@lru_cache(maxsize=256)
def _written(text: str, registry: Registry) -> _Texts:
    """All granted directives of a text, read as if each place were the beginning of an answer or of a block."""
    places = list(_places(registry).finditer(text))
    if len(places) > MOST_WRITTEN:
        return _Texts(is_flood=True)
    return _Texts(tuple(each for place in places for each in _read_at(text, place.start(), registry)))


@lru_cache(maxsize=16)
def _places(registry: Registry) -> re.Pattern[str]:
    """Where a granted directive may begin."""
    granted = [declared for declared in registry.declarations if declared.granted]
    tags = [re.escape(f"<{declared.tag.name}") for declared in granted if declared.tag]
    keys = [rf"\[\[\s*{re.escape(declared.key.name)}\b" for declared in granted if declared.key]
    lines = [re.escape(f"{declared.line.name}:") for declared in granted if declared.line]
    return re.compile("|".join([*tags, *keys, *lines]) or r"(?!)", re.IGNORECASE)


def _read_at(text: str, at: int, registry: Registry) -> Iterable[_Written]:
    if text[at] == "<":
        return _read_tag(text, at, registry)
    found = _LINE.match(text, at)
    reader = ReplyReader(registry=registry)
    events = reader.feed(found[0] if found else "") + reader.finish()
    return [_Written(each.name, each.args, None) for each in events if isinstance(each, Directive)]


def _read_tag(text: str, at: int, registry: Registry) -> Iterable[_Written]:
    """The first directive in a block with this text; a body that is not closed ends with the text."""
    reader = ReplyReader(registry=registry)
    reader.feed(f"<{BLOCK}>")
    name = re.match(r"<([\w-]+)", text[at : at + 99])
    closing = f"</{name[1]}>" if name else ""
    whole = text[at : at + LONGEST]
    pieces = [whole[begin : begin + _PIECE] for begin in range(0, len(whole), _PIECE)]
    for piece in (*pieces, closing):
        for event in reader.feed(piece):
            if isinstance(event, Directive):
                return [_Written(event.name, event.args, _words(event.body))]
    return []


def _words(body: str | None) -> list[str]:
    return (body or "").split()
