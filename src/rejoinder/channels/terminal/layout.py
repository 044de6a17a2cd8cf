"""Lays out text as rows of a terminal: light Markdown, wrapped at words, measured in cells.

A row is a list of (style, text). Lines are laid out one by one; only the open code fence carries over from one to the
next. A line that is still being written is drawn as if its bold or code were closed, so nothing jumps when it is.
"""

import re
from functools import lru_cache

from prompt_toolkit.utils import get_cwidth

Row = list[tuple[str, str]]

PLAIN, BOLD, CODE, FENCE, QUOTE = "", "class:bold", "class:code", "class:fence", "class:quote"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6} ")
_ITEM = re.compile(r" *(?:[-*+]|\d{1,3}[.)]) +")
_MARK = re.compile(r"\*\*|`+")
JOINER = "\u200d"


def lay_out(line: str, fence: str, width: int, *, growing: bool) -> tuple[list[Row], str]:
    """The rows of one line, and the code fence that is open after it ("" when none is)."""
    opener = _FENCE.match(line)
    if fence:
        if opener and opener[1].startswith(fence) and not line[opener.end() :].strip():
            return wrap([(FENCE, line)], width, words=False), ""
        return wrap([(CODE, line)], width, words=False), fence
    if opener:
        return wrap([(FENCE, line)], width, words=False), opener[1]
    hang = len(item[0]) if (item := _ITEM.match(line)) else 0
    return wrap(_styled(line, growing=growing), width, hang=min(hang, width // 3)), ""


def _styled(line: str, *, growing: bool) -> Row:
    if _HEADING.match(line):
        return [(BOLD, line)]
    if line.lstrip().startswith(">"):
        return [(QUOTE, line)]
    if growing and line.endswith("*") and not line.endswith("**"):
        line = line[:-1]  # the last character may be half of a mark
    row: Row = []
    at = 0
    while mark := _MARK.search(line, at):
        sort = BOLD if mark[0] == "**" else CODE
        end = _closing(line, mark)
        if end < 0 and not growing:
            row.append((PLAIN, line[at : mark.end()]))
            at = mark.end()
            continue
        row.append((PLAIN, line[at : mark.start()]))
        row.append((sort, line[mark.end() : end] if end >= 0 else line[mark.end() :]))
        at = end + len(mark[0]) if end >= 0 else len(line)
    row.append((PLAIN, line[at:]))
    return [(style, text) for style, text in row if text]


def _closing(line: str, mark: re.Match[str]) -> int:
    """The index of the equal mark that closes this one, or -1."""
    for other in _MARK.finditer(line, mark.end()):
        if other[0] == mark[0] and other.start() > mark.end():
            return other.start()
    return -1


def wrap(line: Row, width: int, *, words: bool = True, hang: int = 0) -> list[Row]:
    """Breaks at blanks where it can, between characters where it must; `hang` indents the rows after the first."""
    cells = [(style, cluster, _cells(cluster)) for style, text in line for cluster in clusters(text)]
    rows: list[Row] = []
    start, blank, used, at = 0, -1, 0, 0
    while at < len(cells):
        _, cluster, size = cells[at]
        if used + size > width and at > start:
            cut = blank if words and blank > start and cluster != " " else at
            rows.append(_row(cells[start:cut], rows, hang))
            start = at = cut + 1 if cells[cut][1] == " " else cut
            blank, used = -1, hang
            continue
        if cluster == " ":
            blank = at
        used += size
        at += 1
    rows.append(_row(cells[start:], rows, hang))
    return rows


def _row(cells: list[tuple[str, str, int]], rows: list[Row], hang: int) -> Row:
    row: Row = [(PLAIN, " " * hang)] if rows and hang else []
    for style, cluster, _ in cells:
        if row and row[-1][0] == style:
            row[-1] = (style, row[-1][1] + cluster)
        else:
            row.append((style, cluster))
    return row


def clusters(text: str) -> list[str]:
    """Characters with what belongs to them: accents, variation selectors, joined emoji."""
    if text.isascii():
        return list(text)
    found: list[str] = []
    for character in text:
        if found and (found[-1].endswith(JOINER) or get_cwidth(character) == 0):
            found[-1] += character
        else:
            found.append(character)
    return found


@lru_cache(maxsize=4096)
def _cells(cluster: str) -> int:
    # Terminals disagree about joined emoji and variation selectors; too wide a guess only wraps early.
    return max(sum(get_cwidth(character) for character in cluster), 2 if "\ufe0f" in cluster else 1)
