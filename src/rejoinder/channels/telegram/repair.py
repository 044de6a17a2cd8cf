"""JSON that is not quite what Telegram documents, made so.

Other servers than Telegram's own send fields that are null, and other clients half an emoji. What is not understood
would come again and again, and hold up all that follows it.
"""

import json
from typing import Any

import msgspec
from msgspec import Raw

from rejoinder.letters import mended

_any = msgspec.json.Decoder(Raw)


def repaired(raw: bytes) -> bytes:
    """Without what is null, and with what is no text replaced. Raises ValueError for what is no JSON."""
    found = json.loads(raw.decode("utf-8", "replace"), object_pairs_hook=_given)
    return mended(json.dumps(found, ensure_ascii=False)).encode()


def sound(raw: bytes) -> bytes:
    """The very bytes, unless no reader would take them. Raises ValueError for what is no JSON."""
    try:
        _any.decode(raw.decode())
    except ValueError:
        return repaired(raw)
    return raw


def _given(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if value is not None}
