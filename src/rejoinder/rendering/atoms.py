"""Pieces of a text inside which no cut may fall: addresses, escapes, references, links, code spans, words in bold or
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
# Each pattern runs from one mark to the next, so that no character is examined in more than one attempt.
_MARKED = r"\*\*[^*\n]+\*\*|~~[^~\n]+~~|(?<![\w*])\*[^*\s][^*\n]*\*(?![\w*])|\b_[^_\s][^_\n]*_\b"
_ATOM = re.compile("|".join((_LINK, _ADDRESS, _ESCAPE, _REFERENCE, _BRACKETED, _MARKED)), re.IGNORECASE)
_STEP = 8192
"""How many characters are searched at once."""
_TICKS_OR_PARAGRAPH = re.compile(r"(?<!\\)`+|\n[ \t]*\n")
_ZERO_WIDTH_JOINER = "\u200d"
# The signs that join two letters of an Indic script into one.
_LINKS = frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d")
# Unicode calls these letters, but they belong to the previous one: Thai, Lao, narrow Katakana, decomposed Hangul.
_ENDS = frozenset(("\u0e33", "\u0eb3", "\uff9e", "\uff9f", "\u200c", *map(chr, range(0x1160, 0x1200))))


class Atoms:
    """The positions of the atoms of a text. A piece that does not fit into a message is no atom: it may be cut between
    its words."""

    def __init__(self, text: str, longest: int, fits: Callable[[str], bool]) -> None:
        """`longest`: a piece with more characters than this never fits."""
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted((*_matches(text, longest), *code_spans(text))):
            if not fits(text[start:end]):
                continue
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def start_around(self, at: int) -> int | None:
        """The start of the atom around this place, if there is one."""
        index = bisect_right(self._starts, at) - 1
        if index >= 0 and self._starts[index] < at < self._ends[index]:
            return self._starts[index]
        return None


def _matches(text: str, longest: int) -> Iterator[tuple[int, int]]:
    """Searches in steps, because one search of a long text would hold the interpreter, and with it the event loop."""
    at = 0
    while at < len(text):
        stop = at + _STEP  # the next step finds matches that begin here
        line = text.find("\n", stop, stop + longest)  # no atom continues in the next line
        for found in _ATOM.finditer(text, at, line if line >= 0 else stop + longest):
            if found.start() >= stop:
                break
            yield found.span()
            at = found.end()
        at = max(at, stop)


def code_spans(text: str) -> Iterator[tuple[int, int]]:
    """The code spans, back-ticks included."""
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
    """Whether a cut here would split what people see as one character. The search goes back no further than `first`."""
    if at >= len(text):
        return False
    before, behind = text[at - 1], text[at]
    if _is_regional(before) and _is_regional(behind):
        begin = at - 1
        while begin > first and _is_regional(text[begin - 1]):
            begin -= 1
        return (at - begin) % 2 == 1  # a flag is a pair of these
    if before in _LINKS and behind.isalpha():
        return True
    return before == _ZERO_WIDTH_JOINER or before + behind == "\r\n" or _extends(behind)


def _extends(character: str) -> bool:
    """Whether it belongs to the character before it: a mark, selector, joiner, skin tone or letter of a flag."""
    return (
        character == _ZERO_WIDTH_JOINER
        or character in _ENDS
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or unicodedata.category(character).startswith("M")
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
