"""JSON with letters cut in half.

Who cuts a text by UTF-16 units may cut an emoji in two, and write each half as an escape of its own (`\\ud83d`). Our
quick decoder takes that for no JSON at all, and what was said would be lost; the one of the standard library lets
the halves stand, and `rejoinder.letters` joins them again.
"""

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def read(data: str | bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Raises msgspec.DecodeError for what is no JSON, ValidationError for what has another shape."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        try:
            document: Any = json.loads(data)
        except ValueError:
            document = None
        if document is None:
            raise
        return msgspec.convert(document, decoder.type, strict=decoder.strict)
