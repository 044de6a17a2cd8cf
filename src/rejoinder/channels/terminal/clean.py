"""Makes the text of people and agents harmless for a terminal.

Text must not move the cursor, retitle the window, fake keyboard input or reverse the text around it. A character that
could do so is replaced by a visible sign: ESC by ␛, a lone surrogate by �.
"""

import re

# C0 except tab and newline, DEL, C1, surrogates (which cannot be sent to a terminal), and characters that override
# the direction of the text around them.
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
    """The first words of a message on one line, without marks, as a reminder."""
    line = " ".join(_MARKS.sub("", clean(text[: longest * 4])).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
