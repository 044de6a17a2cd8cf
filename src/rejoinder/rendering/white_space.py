"""White space of a reply: held back until something visible follows, and ignored around a header or a token at an edge.

Zero-width characters count as white space: they are invisible, so the text after one seems to begin in its place. But
Markdown decides whether a line is a fence, a quote or indented code, and it knows only blanks and tabs. A no-break
space has a width, so it is a character like any other.
"""

import re

_DIRECTIONS = (0x200E, 0x200F, *range(0x202A, 0x202F))
_ZERO_WIDTH = (0x180E, 0x200B, 0x200C, 0x200D, *_DIRECTIONS, *range(0x2060, 0x2070), 0xFEFF)

WITHOUT_WIDTH = dict.fromkeys(_ZERO_WIDTH)
"""A table for `str.translate` that removes them."""

BLANK = " \t\r" + "".join(map(chr, _ZERO_WIDTH))
"""White space within a line."""

WHITE = "\n" + BLANK

BLANKS = re.compile(f"[{BLANK}]+")
WHITES = re.compile(f"[{WHITE}]+")

MOST_WHITE = 65_536
"""The most characters of white space that are held back (OD-5)."""

# Invisible: controls, marks that only turn or join the characters around them, fillers, and the empty Braille pattern.
_SEEN = re.compile(
    "[^\\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U000e0000-\U000e0fff]"
)


def is_seen(text: str) -> bool:
    """Whether the text has a visible character; platforms refuse a message without one (DE-14)."""
    return _SEEN.search(text) is not None
