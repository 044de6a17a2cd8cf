"""Letters that were cut in half, made whole again: in a text, in a stream of pieces, in JSON; and those that are no
letters, made harmless.

Who cuts a text by UTF-16 units may cut an emoji in two. Each half is no letter: it can be neither written nor sent,
and a text with one in it would fail wherever it goes.
"""

import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_FIRST_HALF = ("\ud800", "\udbff")
_encode = msgspec.json.Encoder().encode
# Control characters but for the end of a line, and the marks that change the direction of what follows.
_HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """What somebody wrote, without what moves a cursor or turns the text around."""
    return _HARMFUL.sub(" ", text)


def one_line(text: str) -> str:
    return " ".join(harmless(text).split())


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


def as_json(value: object) -> bytes:
    """A value as JSON, its texts mended where they have to be."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # only the slower encoder lets a half stand, so that it can be mended
        return mended(json.dumps(msgspec.to_builtins(value), ensure_ascii=False)).encode()


def as_it_came(value: object) -> bytes:
    """JSON that was read, with its halves as they were: a name is said back unchanged, or it names nothing."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def from_json(data: str | bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """What JSON says, halves and all: they may be written as escapes of their own (`\\ud83d`), which the quick decoder
    takes for no JSON at all; as it does bytes that are no letter.

    Raises msgspec.DecodeError for what is no JSON, ValidationError for what has another shape.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeError, RecursionError) as problem:
        try:
            document: Any = json.loads(data if isinstance(data, str) else data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            document = None
        if document is None:
            raise msgspec.DecodeError(str(problem)) from problem
        return msgspec.convert(document, decoder.type, strict=decoder.strict)
