"""Makes characters that were cut in half whole again, in a text, in a stream of pieces and in JSON; and makes control
characters harmless.

A program that cuts a text by UTF-16 units may cut an emoji in two. Neither half (a lone surrogate) can be encoded, so a
text that contains one would fail wherever it goes.
"""

import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

LONGEST_REPAIRED = 1 << 20
"""Longer JSON is not read a second time by the slow decoder: everything else would wait for it."""
TOO_DEEP = "it is nested too deeply"

_FIRST_HALF = ("\ud800", "\udbff")
_encode = msgspec.json.Encoder().encode
# Control characters other than the newline, and the marks that change the direction of the text.
_HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """The text with a space instead of each character that would move the cursor or change the direction of the
    text."""
    return _HARMFUL.sub(" ", text)


def one_line(text: str) -> str:
    return " ".join(harmless(text).split())


def repair_text(text: str) -> str:
    """Two halves side by side become one character again; a lone half becomes U+FFFD, the replacement character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class StreamRepair:
    """Makes whole characters of pieces cut anywhere: half a character waits for its other half."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        if piece.isascii() and not self._half:
            return piece
        text, self._half = self._half + piece, ""
        if text and _FIRST_HALF[0] <= text[-1] <= _FIRST_HALF[1]:
            text, self._half = text[:-1], text[-1]
        return repair_text(text)


def as_json(value: object) -> bytes:
    """A value as JSON, its texts repaired where they have to be."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # only the slower encoder accepts a half, which can then be repaired
        return repair_text(json.dumps(msgspec.to_builtins(value), ensure_ascii=False)).encode()


def encode_as_received(value: object) -> bytes:
    """Encodes JSON that we have read and keeps halves of characters as they were: a repaired name would no longer
    match."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def from_json(data: str | bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Decodes JSON with halves in it: the fast decoder rejects a lone escape (`\\ud83d`), and bytes that are not UTF-8.

    Raises msgspec.DecodeError for what is not JSON, ValidationError for what has another shape.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except RecursionError:
        raise msgspec.DecodeError(TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeError) as problem:
        if len(data) > LONGEST_REPAIRED:
            raise msgspec.DecodeError(str(problem)) from problem
        try:
            document: Any = json.loads(data if isinstance(data, str) else data.decode("utf-8", "replace"))
        except ValueError:
            document = None
        except RecursionError:
            raise msgspec.DecodeError(TOO_DEEP) from None
        if document is None:
            raise msgspec.DecodeError(str(problem)) from problem
        return msgspec.convert(document, decoder.type, strict=decoder.strict)
