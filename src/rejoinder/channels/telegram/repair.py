"""Repairs JSON that is not quite what Telegram documents.

Other servers than Telegram's own send fields that are null, and some clients send half an emoji. An update that we
cannot read would come again and again, and hold up all that follows it.
"""

import json
from typing import Any

import msgspec
from msgspec import Raw

from rejoinder.letters import mended

_any = msgspec.json.Decoder(Raw)


def repaired(raw: bytes) -> bytes:
    """The JSON without null fields, and with invalid characters replaced. Raises ValueError if it is not JSON, or is
    nested more deeply than anything that Telegram sends."""
    try:
        found = json.loads(raw.decode("utf-8", "replace"), object_pairs_hook=_given)
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None
    return mended(json.dumps(found, ensure_ascii=False)).encode()


def sound(raw: bytes) -> bytes:
    """The same bytes if they can be read, else repaired. Raises ValueError if it is not JSON."""
    try:
        _any.decode(raw.decode())
    except (ValueError, RecursionError):
        return repaired(raw)
    return raw


def _given(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if value is not None}
