"""JSON with letters cut in half.

Who cuts a text by UTF-16 units may cut an emoji in two, and write each half as an escape of its own (`\\ud83d`); who
cuts it by bytes leaves some that are no letter. Our quick decoder takes neither, and what was said would be lost; the
one of the standard library lets the halves stand, and `rejoinder.letters` joins them again.
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
    except (msgspec.DecodeError, UnicodeError, RecursionError) as problem:
        try:
            document: Any = json.loads(data if isinstance(data, str) else data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            document = None
        if document is None:
            raise msgspec.DecodeError(str(problem)) from problem
        return msgspec.convert(document, decoder.type, strict=decoder.strict)


def write(value: Any) -> bytes:
    """What was read is said back as it came."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()
