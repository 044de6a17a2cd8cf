"""Characters that an agent cut in two: an emoji beyond the first 65536 is two units to those who count in UTF-16, and
what they stream may end between them. No store and no platform takes half of one.
"""

import re

_HALF = re.compile("[\ud800-\udfff]")


class Halves:
    """Joins what comes piece by piece."""

    def __init__(self) -> None:
        self._first = ""

    def join(self, piece: str) -> str:
        """The piece in whole characters; a first half at its end waits for the next one."""
        if not self._first and (piece.isascii() or not _HALF.search(piece)):
            return piece
        text, self._first = self._first + piece, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._first = text[:-1], text[-1]
        return whole(text)


def whole(text: str) -> str:
    """The text with every half that has no other replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
