"""Letters that were cut in half, made whole again.

Who cuts a text by UTF-16 units may cut an emoji in two. Each half is no letter: it can be neither written nor sent,
and a text with one in it would fail wherever it goes.
"""

_FIRST_HALF = ("\ud800", "\udbff")


def mended(text: str) -> str:
    """Halves that stand together are one letter again; one alone becomes the sign for what cannot be read."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class Letters:
    """Whole letters out of pieces cut anywhere: half a letter waits for the other half."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        if piece.isascii() and not self._half:
            return piece
        text, self._half = self._half + piece, ""
        if text and _FIRST_HALF[0] <= text[-1] <= _FIRST_HALF[1]:
            text, self._half = text[:-1], text[-1]
        return mended(text)
