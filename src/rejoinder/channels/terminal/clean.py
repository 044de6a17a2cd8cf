"""What people and agents wrote, made harmless for a terminal.

Text must not move the cursor, retitle the window, answer for the keyboard or turn its neighbours round. What
could is shown as a sign instead of sent: ESC as ␛, a lone surrogate as �.
"""

import re

# C0 but tab and newline, DEL, C1, surrogates (no terminal can be sent one), and what overrides the direction
# of the text around it.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_MARKS = re.compile(r"\*\*|`+|^#+ |^> ", re.MULTILINE)
_LINE_ENDS = re.compile("\r\n|[\u2028\u2029\u0085]")


def clean(text: str) -> str:
    return _HARMFUL.sub(_sign, _LINE_ENDS.sub("\n", text))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "�"


def excerpt(text: str, longest: int) -> str:
    """The first words of a message on one line, without marks, to remind of it."""
    line = " ".join(_MARKS.sub("", clean(text[: longest * 4])).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
