"""Removing spans from a text without touching another byte (IN-3).

Rule 1: a span is removed with one neighbouring blank: the one after it, else the one before, unless that one is
indentation or separates two words. Spans that touch count as one.
Rule 2: a line that holds nothing but spans is removed with its newline.
Rule 3: no other white space, newline or indentation ever changes.
"""

from collections.abc import Sequence

BLANKS = "\t \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def remove(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without these spans, which come in order and do not overlap. One pass."""
    if not spans:
        return text
    kept: list[str] = []
    position, index = 0, 0
    while index < len(spans):
        line_start = text.rfind("\n", position, spans[index][0]) + 1 or position
        line_end = text.find("\n", spans[index][0])
        line_end = len(text) if line_end < 0 else line_end
        here: list[tuple[int, int]] = []
        while index < len(spans) and spans[index][0] < line_end:
            start, end = spans[index]
            touches = bool(here) and here[-1][1] == start
            here.append((here.pop()[0] if touches else start, end))
            if end > line_end:  # the argument may be on the next line
                following = text.find("\n", end)
                line_end = len(text) if following < 0 else following
            index += 1
        kept.append(text[position:line_start])
        line = _without(text, line_start, line_end, here)
        if line.strip():
            kept.append(line)
            position = line_end
        else:
            position = min(line_end + 1, len(text))
            if line_end == len(text):
                _drop_last(kept, "\n")  # the last line has only the newline before it
    kept.append(text[position:])
    return "".join(kept)


def _without(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    position = start
    indented = True
    for first, last in spans:
        kept.append(text[position:first])
        indented = indented and not kept[-1].strip()
        position = last
        if position < end and text[position] in BLANKS:
            position += 1
        elif not indented and not text[position : position + 1].isalnum():
            _drop_last(kept, BLANKS)
    kept.append(text[position:end])
    return "".join(kept)


def _drop_last(pieces: list[str], characters: str) -> None:
    while pieces and not pieces[-1]:
        pieces.pop()
    if pieces and pieces[-1][-1] in characters:
        pieces[-1] = pieces[-1][:-1]
