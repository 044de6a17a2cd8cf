"""Cut a text into messages that a platform takes (DE-10, DE-11).

A cut falls behind a paragraph, a line, a sentence or a word, in this order, and only where none of them ends in
the second half of what fits, elsewhere; never inside a grapheme. White space at a cut goes, but a line that
begins a message keeps its indentation. A text that fits stays as it is.
"""

import re
import unicodedata
from typing import Literal

Unit = Literal["characters", "utf16", "bytes"]

_PARAGRAPH = r"(?=\n[ \t\r]*\n)"
_SENTENCE = r"[.!?…][\"'”’)\]*_]*(?=\s)|[。！？][」』）”’]*"
_BOUNDARIES = tuple(map(re.compile, (_PARAGRAPH, r"(?=\n)", _SENTENCE, r"(?=\s)")))
_BEYOND = 2  # the end of a line or a paragraph is seen though it begins where the room ends
_WHITE = re.compile(r"\s*")
_ZERO_WIDTH_JOINER = "\u200d"


def length(text: str, unit: Unit = "characters") -> int:
    """How long the platform thinks the text is."""
    match unit:
        case "characters":
            return len(text)
        case "utf16":
            return len(text.encode("utf-16-le", "surrogatepass")) // 2
        case "bytes":
            return len(text.encode("utf-8", "surrogatepass"))


def split(text: str, limit: int | None, unit: Unit = "characters") -> list[str]:
    """The messages a text becomes; none for a text of white space only."""
    if not text.strip():
        return []
    if limit is None or length(text, unit) <= limit:
        return [text]
    chunks: list[str] = []
    at = _line_start(text, 0)
    while (visible := _skip_white(text, at)) < len(text):
        end = _fitting(text, at, limit, unit)
        if end <= visible:  # an indentation that fills a message would be an empty one
            at = visible
            end = max(_fitting(text, at, limit, unit), at + 1)
        if end < len(text):
            end = _cut(text, at, end, visible + 1)
        chunks.append(text[at:end].rstrip())
        at = _line_start(text, end)
    return chunks


def _skip_white(text: str, at: int) -> int:
    white = _WHITE.match(text, at)
    return white.end() if white else at


def _line_start(text: str, at: int) -> int:
    """Where the next message begins: behind white space, before the indentation of a line."""
    visible = _skip_white(text, at)
    newline = text.rfind("\n", at, visible)
    if newline >= 0:
        return newline + 1
    return visible if at else 0


def _fitting(text: str, at: int, limit: int, unit: Unit) -> int:
    """Behind the last character that fits."""
    end = min(len(text), at + limit)  # no character is shorter than one of any unit
    room = limit - length(text[at:end], unit)
    while room < 0:
        end -= 1
        room += length(text[end], unit)
    return end


def _cut(text: str, at: int, end: int, least: int) -> int:
    half = max(at + (end - at) // 2, least)
    for boundary in _BOUNDARIES:
        ends = [found.end() for found in boundary.finditer(text, half, end + _BEYOND) if found.end() <= end]
        if ends:
            return ends[-1]
    cut = end
    while cut > least and _is_inside_grapheme(text, at, cut):
        cut -= 1
    return end if _is_inside_grapheme(text, at, cut) else cut


def _is_inside_grapheme(text: str, at: int, cut: int) -> bool:
    if cut >= len(text):
        return False
    before, behind = text[cut - 1], text[cut]
    if _is_regional(before) and _is_regional(behind):
        first = cut - 1
        while first > at and _is_regional(text[first - 1]):
            first -= 1
        return (cut - first) % 2 == 1  # a flag is a pair of them
    return before == _ZERO_WIDTH_JOINER or _extends(behind)


def _extends(character: str) -> bool:
    """Whether it belongs to the character before it: marks, selectors, joiners, skin tones, letters of a flag."""
    return (
        character == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or unicodedata.category(character).startswith("M")
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
