"""The parts of a text in which nothing is searched: code, quoted lines, the text of links (IN-6, IN-51).

Chat clients render fences anywhere, so three backticks pair up even in the middle of a line. Everything here is one
pass over the text, whatever it contains.
"""

import re
from bisect import bisect_right

_MARKS = re.compile(
    r"""
      ^[ \t]*(?P<fence>`{3,}(?!`)|~{3,}(?!~))[^`\n]*$  # a fence opens on a line of its own, and is all of its marks
    | (?P<ticks>`+)
    | ^[ \t]*>(?=[ \t>/]|$)[^\n]*                       # a quoted line
    | \[[^\[\]\n]*\]\([^()\s]*\)                        # [text](target)
    | <[A-Za-z][A-Za-z0-9+.\-]*:[^<>\n]*>               # <target|text>
    """,
    re.MULTILINE | re.VERBOSE,
)
_TICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")


class Protected:
    """Sorted spans that do not touch each other; lookups are binary searches."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def __contains__(self, position: int) -> bool:
        index = bisect_right(self._starts, position) - 1
        return index >= 0 and position < self._ends[index]


_NOTHING = Protected([])


def protected(text: str) -> Protected:
    """The spans of this text in which the sender is not speaking to us."""
    if not any(mark in text for mark in "`~>]"):
        return _NOTHING
    spans: list[tuple[int, int]] = []
    runs = _runs_by_length(text)
    blank_lines = [match.start() for match in _BLANK_LINE.finditer(text)]
    done = 0
    for mark in _MARKS.finditer(text):
        start, end = mark.span()
        if start < done:
            continue
        if fence := mark["fence"]:
            done = _fence_end(text, end, fence)
        elif ticks := mark["ticks"]:
            done = _code_end(start, ticks, runs, blank_lines)
        else:
            done = end
        if done > start:
            spans.append((start, done))
    return Protected(spans)


def _runs_by_length(text: str) -> dict[int, list[int]]:
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(run.end() - run.start(), []).append(run.start())
    return runs


def _fence_end(text: str, after: int, fence: str) -> int:
    closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    found = closing.search(text, after + 1)
    return found.end() if found else len(text)


def _code_end(start: int, ticks: str, runs: dict[int, list[int]], blank_lines: list[int]) -> int:
    """The end of the code that opens here, or `start` if nothing closes it."""
    length = len(ticks)
    same = runs[length]
    closing = bisect_right(same, start)
    if closing == len(same):
        return start
    if length < 3:
        gap = bisect_right(blank_lines, start)
        if gap < len(blank_lines) and blank_lines[gap] < same[closing]:
            return start
    return same[closing] + length
