"""Blocks that have to be closed and opened again at a cut: code fences and tables (DE-11)."""

import re

from msgspec import Struct

from rejoinder.rendering.markdown import parse_blocks

_LINE_END = re.compile(r"\r\n?|\n")
_MARKERS = re.compile(r"[^>\s]")
_LEAST_CODE_INDENT = 4


class Enclosure(Struct, frozen=True):
    """A fence or a table, by its positions in the text."""

    start: int
    inside: int
    """Where the content begins, after the fence's line or the table's head."""
    end: int
    """Where the closing fence begins; for a table this is `stop`."""
    stop: int
    opening: str
    """The text with which a message that begins in here has to open."""
    closing: str
    """The text with which a message that ends in here has to close; empty for a table."""
    prefix: str = ""
    """The prefix of every line in here, and so also of the rest of a line that was cut."""


def enclosures(text: str) -> list[Enclosure]:
    """All enclosures of a text, in order; they do not overlap."""
    if "```" not in text and "~~~" not in text and "|" not in text:
        return []
    starts = _line_starts(text)
    found: list[Enclosure] = []
    for token in parse_blocks(text):
        if token.map is None:
            continue
        first, behind = token.map
        if token.type == "fence":
            found.append(_fence(text, starts, first, behind, token.markup))
        elif token.type == "table_open" and token.level == 0:
            found.append(_table(text, starts, first, behind))
    return found


def closing_of(text: str) -> str:
    """The closing fence that a text needs at its end, if it ends inside a fence."""
    found = enclosures(text)
    if not found or found[-1].end < found[-1].stop or text[found[-1].stop :].strip():
        return ""
    return found[-1].closing


def lists_and_code(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The positions of lists, and of lines that are code because of their indentation."""
    starts = _line_starts(text)
    lists: list[tuple[int, int]] = []
    code: list[tuple[int, int]] = []
    for token in parse_blocks(text):
        if token.map is not None and token.type in ("bullet_list_open", "ordered_list_open", "code_block"):
            (code if token.type == "code_block" else lists).append((starts[token.map[0]], starts[token.map[1]]))
    return lists, code


def _line_starts(text: str) -> list[int]:
    return [0, *(end.end() for end in _LINE_END.finditer(text)), len(text)]


def _fence(text: str, starts: list[int], first: int, behind: int, run: str) -> Enclosure:
    start, inside, stop = starts[first], starts[first + 1], _stop(text, starts, behind)
    prefix, _, info = text[start:inside].rstrip().partition(run)
    prefix = _MARKERS.sub(" ", prefix.expandtabs(4))
    last = starts[behind - 1]
    closed = behind - 1 > first and _closes(text[last:stop], run)
    return Enclosure(
        start=start,
        inside=inside,
        end=last if closed else stop,
        stop=stop,
        opening=f"{_as_deep(prefix)}{run}{info}\n",
        closing=f"\n{prefix}{run}",
        prefix=prefix,
    )


def _table(text: str, starts: list[int], first: int, behind: int) -> Enclosure:
    start, inside, stop = starts[first], starts[first + 2], _stop(text, starts, behind)
    return Enclosure(start, inside, stop, stop, text[start:inside].rstrip() + "\n", "")


def _stop(text: str, starts: list[int], behind: int) -> int:
    stop = starts[behind]
    return stop - 1 - (text[stop - 2 : stop] == "\r\n") if text[stop - 1] in "\r\n" else stop


def _closes(line: str, run: str) -> bool:
    bare = line.strip("> \t\r\n")
    return len(bare) >= len(run) and bare == run[0] * len(bare)


def _as_deep(prefix: str) -> str:
    """The prefix of a fence. If it is indented so far that it would be a fence only inside a list, it gets list
    markers."""
    quotes = prefix.rstrip(" ") + " " * (">" in prefix)
    blanks = len(prefix) - len(quotes)
    if blanks < _LEAST_CODE_INDENT:
        return prefix
    items, rest = divmod(blanks - _LEAST_CODE_INDENT, 2)
    return quotes + "- " * items + "-" + " " * (_LEAST_CODE_INDENT - 1 + rest)
