"""White space around directives that were taken out (OD-33).

The reader holds white space back until it knows what follows. If a directive was taken out of it, the gap has to close:
a line with only directives goes with its newline, and leaves at most one blank line; inside a line one blank stays
between words; the indentation of the next line is kept.

A gap is the white space between two visible characters, as written, with marks where something was taken out and where
a segment ended. It contains only white space, so no text can be mistaken for a mark.
"""

import re
from functools import lru_cache

CUT = "\0"
SEGMENT_END = "\1"
"""Ends a line as a newline does, but leaves nothing in the text."""

_LINE_END = re.compile(f"([\n{SEGMENT_END}])")
_NEWLINE = re.compile(r"\r?\n")


@lru_cache(maxsize=64)  # hostile text has the same gap over and over
def closed(gap: str, text_before: bool) -> str:
    """The white space that stays when text follows."""
    if CUT not in gap:
        return gap.replace(SEGMENT_END, "")
    first, *others = _LINE_END.split(gap)
    if not others:
        return first.replace(CUT, "")[:1] if text_before else ""
    *middle, last = others
    last = "" if CUT in last else last
    return _behind_text(first, middle) + last if text_before else last


def _behind_text(first: str, middle: list[str]) -> str:
    """The part that stays of the rest of a text's line (`first`) and of the lines after it.

    `middle` is the end of that line, then alternately a line and its end.
    """
    blanks = first.replace(CUT, "")
    end = middle[0]
    if end == "\n" and blanks.endswith("\r"):
        blanks, end = blanks[:-1], "\r\n"
    whole = [line + its_end for line, its_end in zip(middle[1::2], middle[2::2], strict=True) if CUT not in line]
    lines = (end + "".join(whole)).replace(SEGMENT_END, "")
    if 2 * len(whole) + 1 < len(middle):
        lines = "".join(_NEWLINE.findall(lines)[:2])
    return lines if CUT in first else blanks + lines
