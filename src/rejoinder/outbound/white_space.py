"""White space of a reply: kept back until something visible follows, and nothing to a header or a token at an edge.

Characters without a width belong to it: nobody sees them, so what stands behind one is where it seems to be. What is
a fence, a quote or indented code is Markdown's to say, which knows blanks and tabs only; and a no-break space has a
width, so it is a character like any other.
"""

import re

_DIRECTIONS = (0x200E, 0x200F, *range(0x202A, 0x202F))
_ZERO_WIDTH = (0x180E, 0x200B, 0x200C, 0x200D, *_DIRECTIONS, *range(0x2060, 0x2070), 0xFEFF)

WITHOUT_WIDTH = dict.fromkeys(_ZERO_WIDTH)
"""For `str.translate`, which takes these out."""

BLANK = " \t\r" + "".join(map(chr, _ZERO_WIDTH))
"""White space within a line."""

WHITE = "\n" + BLANK

BLANKS = re.compile(f"[{BLANK}]+")
WHITES = re.compile(f"[{WHITE}]+")

MOST_WHITE = 65_536
"""So much white space is kept back at most (OD-5)."""

# Controls, marks that only turn or join what is around them, fillers, and the empty pattern of Braille.
_SEEN = re.compile(
    "[^\\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U000e0000-\U000e0fff]"
)


def is_seen(text: str) -> bool:
    """Whether there is a character in it that anybody sees; platforms refuse a message without (DE-14)."""
    return _SEEN.search(text) is not None
