"""Pieces of a text that no cut may fall into: addresses, escapes, references, links, code spans, words in bold or
italics, graphemes (DE-11)."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator

_ADDRESS = r"(?<![a-z0-9])(?:[a-z][a-z0-9+.-]{1,15}://|www\.)[^\s<>\u3000-\u303f\uff00-\uff60]+"
_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_REFERENCE = r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});"
_BRACKETED = r"<[^<>\s]{1,100}>"
_LINK = r"!?\[[^\[\]\n]+\]\((?:[^()\s]|\([^()\s]*\))*\)"
# From one mark to the next, so that no character is looked at by more than one attempt.
_MARKED = r"\*\*[^*\n]+\*\*|~~[^~\n]+~~|(?<![\w*])\*[^*\s][^*\n]*\*(?![\w*])|\b_[^_\s][^_\n]*_\b"
_ATOM = re.compile("|".join((_LINK, _ADDRESS, _ESCAPE, _REFERENCE, _BRACKETED, _MARKED)), re.IGNORECASE)
_TICKS_OR_PARAGRAPH = re.compile(r"(?<!\\)`+|\n[ \t]*\n")
_ZERO_WIDTH_JOINER = "\u200d"
# The signs that join two letters of an Indic script into one.
_LINKS = frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d")
# Letters to Unicode, but parts of the one before: of Thai and Lao, of narrow Katakana, of Hangul in pieces.
_ENDS = frozenset(("\u0e33", "\u0eb3", "\uff9e", "\uff9f", "\u200c", *map(chr, range(0x1160, 0x1200))))


class Atoms:
    """Where the atoms of a text lie. What does not fit into a message is none: it has words to cut behind."""

    def __init__(self, text: str, fits: Callable[[str], bool]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted((*_matches(text), *code_spans(text))):
            if not fits(text[start:end]):
                continue
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def start_around(self, at: int) -> int | None:
        """Where the atom begins that this place lies inside of."""
        index = bisect_right(self._starts, at) - 1
        if index >= 0 and self._starts[index] < at < self._ends[index]:
            return self._starts[index]
        return None


def _matches(text: str) -> Iterator[tuple[int, int]]:
    return (found.span() for found in _ATOM.finditer(text))


def code_spans(text: str) -> Iterator[tuple[int, int]]:
    """What stands between back-ticks, and these."""
    runs: list[tuple[int, int]] = []
    for found in _TICKS_OR_PARAGRAPH.finditer(text):
        if found[0][0] == "`":
            runs.append(found.span())
        else:
            yield from _spans_of(runs)
            runs.clear()
    yield from _spans_of(runs)


def _spans_of(runs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pairs of equally long runs of one paragraph."""
    partner: list[int | None] = []
    next_of_length: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        long = runs[index][1] - runs[index][0]
        partner.append(next_of_length.get(long))
        next_of_length[long] = index
    partner.reverse()
    index = 0
    while index < len(runs):
        closing = partner[index]
        if closing is not None:
            yield runs[index][0], runs[closing][1]
            index = closing
        index += 1


def is_inside_grapheme(text: str, first: int, at: int) -> bool:
    """Whether what people see as one character is torn apart here; `first` is as far as is looked back."""
    if at >= len(text):
        return False
    before, behind = text[at - 1], text[at]
    if _is_regional(before) and _is_regional(behind):
        begin = at - 1
        while begin > first and _is_regional(text[begin - 1]):
            begin -= 1
        return (at - begin) % 2 == 1  # a flag is a pair of them
    if before in _LINKS and behind.isalpha():
        return True
    return before == _ZERO_WIDTH_JOINER or before + behind == "\r\n" or _extends(behind)


def _extends(character: str) -> bool:
    """Whether it belongs to the character before it: marks, selectors, joiners, skin tones, letters of a flag."""
    return (
        character == _ZERO_WIDTH_JOINER
        or character in _ENDS
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or unicodedata.category(character).startswith("M")
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
