"""Blocks that a cut must close and open again: code fences and tables (DE-11)."""

import re

from msgspec import Struct

from rejoinder.rendering.markdown import parse_blocks

_LINE_END = re.compile(r"\r\n?|\n")
_MARKERS = re.compile(r"[^>\s]")
_LEAST_CODE_INDENT = 4


class Enclosure(Struct, frozen=True):
    """A fence or a table, by its places in the text."""

    start: int
    inside: int
    """Where the content begins, after the fence's line or the table's head."""
    end: int
    """Where the closing fence begins; for a table the same as `stop`."""
    stop: int
    opening: str
    """What a message that begins in here must open with."""
    closing: str
    """What a message that ends in here must close with; empty for a table."""
    prefix: str = ""
    """What every line in here begins with, and so the rest of a line that was cut."""


def enclosures(text: str) -> list[Enclosure]:
    """All of a text, in order; they do not overlap."""
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
    """What closes the fence that a text ends in, if it ends in one."""
    found = enclosures(text)
    if not found or found[-1].end < found[-1].stop or text[found[-1].stop :].strip():
        return ""
    return found[-1].closing


def lists_and_code(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where lists stand, and where lines are code because of their indentation."""
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
    """The prefix of a fence. One indented so far that it would only be a fence inside a list gets list markers."""
    quotes = prefix.rstrip(" ") + " " * (">" in prefix)
    blanks = len(prefix) - len(quotes)
    if blanks < _LEAST_CODE_INDENT:
        return prefix
    items, rest = divmod(blanks - _LEAST_CODE_INDENT, 2)
    return quotes + "- " * items + "-" + " " * (_LEAST_CODE_INDENT - 1 + rest)
