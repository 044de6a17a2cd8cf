"""Cut a text into messages that a platform takes (DE-10, DE-11).

A cut falls behind a paragraph, a line, a sentence or a word, in this order, and only where none of them ends in
the second half of what fits, elsewhere; never inside a grapheme. White space at a cut goes.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

Unit = Literal["characters", "utf16", "bytes"]

_WIDTH: dict[Unit, Callable[[str], int]] = {
    "characters": lambda character: 1,
    "utf16": lambda character: 2 if character > "\uffff" else 1,
    "bytes": lambda character: len(character.encode("utf-8", "surrogatepass")),
}
_BOUNDARIES = tuple(map(re.compile, (r"\n[ \t\r]*\n", r"\n", r"[.!?…。！？][\"'”’)\]*_]*(?=\s)|[。！？]", r"\s")))
_JOINERS = "\u200d\ufe0e\ufe0f"


def length(text: str, unit: Unit = "characters") -> int:
    """How long the platform thinks the text is."""
    return len(text) if unit == "characters" else sum(map(_WIDTH[unit], text))


def split(text: str, limit: int | None, unit: Unit = "characters") -> list[str]:
    """The messages a text becomes; none for a text without a visible character."""
    chunks: list[str] = []
    at = _skip_white(text, 0)
    while at < len(text):
        end = _fitting(text, at, limit, unit)
        if end < len(text):
            end = _cut(text, at, end)
        chunks.append(text[at:end].rstrip())
        at = _skip_white(text, end)
    if chunks and limit is None:
        return [text]
    return chunks


def _skip_white(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _fitting(text: str, at: int, limit: int | None, unit: Unit) -> int:
    """Behind the last character that fits."""
    if limit is None:
        return len(text)
    if unit == "characters":
        return min(len(text), at + limit)
    width, room = _WIDTH[unit], limit
    for index in range(at, len(text)):
        room -= width(text[index])
        if room < 0:
            return index
    return len(text)


def _cut(text: str, at: int, end: int) -> int:
    half = at + (end - at) // 2
    for boundary in _BOUNDARIES:
        cut = 0
        for found in boundary.finditer(text, half, end):
            cut = found.end()
        if cut:
            return cut
    cut = end
    while cut > at and _is_inside_grapheme(text, cut):
        cut -= 1
    return cut if cut > at else end


def _is_inside_grapheme(text: str, cut: int) -> bool:
    before, behind = text[cut - 1], text[cut]
    return (
        behind in _JOINERS
        or before == "\u200d"
        or unicodedata.combining(behind) > 0
        or "\U0001f3fb" <= behind <= "\U0001f3ff"  # skin tones
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= behind <= "\U0001f1ff")  # flags
    )
