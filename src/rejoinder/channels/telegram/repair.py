"""Repairs JSON that is not quite what Telegram documents.

Servers other than Telegram's own send null fields, and some clients send half an emoji. An update that we could not
read would come again and again, and hold up everything after it.
"""

import json
import re
from typing import Any

import msgspec
from msgspec import Raw

from rejoinder.unicode_repair import repair_text

DEEPEST = 100
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)  # strings first: brackets inside them do not nest
_any = msgspec.json.Decoder(Raw)


def repaired(raw: bytes) -> bytes:
    """The JSON without null fields, with invalid characters replaced, and without what is nested more deeply than
    anything that Telegram sends. Raises ValueError if it is not JSON."""
    text = raw.decode("utf-8", "replace")
    try:
        return _rewritten(text)
    except RecursionError:
        return _rewritten(_shallow(text))


def _rewritten(text: str) -> bytes:
    return repair_text(json.dumps(json.loads(text, object_pairs_hook=_given), ensure_ascii=False)).encode()


def _shallow(text: str) -> str:
    """The JSON with each list and object below the deepest level replaced by null."""
    kept: list[str] = []
    depth = since = 0
    for found in _BRACKET.finditer(text):
        bracket = found[0]
        if bracket in "[{":
            depth += 1
            if depth == DEEPEST + 1:
                kept.append(text[since : found.start()])
        elif bracket in "]}":
            if depth == DEEPEST + 1:
                kept.append("null")
                since = found.end()
            depth -= 1
    return "".join(kept) + text[since:] if depth == 0 else text[:0]


def sound(raw: bytes) -> bytes:
    """The same bytes if they can be read, else repaired. Raises ValueError if it is not JSON."""
    try:
        _any.decode(raw.decode())
    except (ValueError, RecursionError):
        return repaired(raw)
    return raw


def _given(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if value is not None}
