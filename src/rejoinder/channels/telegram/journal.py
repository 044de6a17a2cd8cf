"""What waits for its album when nobody but us has it: Telegram's own bytes, kept as the channel's cursor."""

from collections.abc import Iterable

import msgspec
from msgspec import Raw


def write_journal(updates: Iterable[bytes]) -> str:
    return msgspec.json.encode([Raw(update) for update in updates]).decode()


def read_journal(cursor: str | None) -> list[bytes]:
    """Nothing, when it is the offset of a channel that was polled."""
    if cursor is None or not cursor.startswith("["):
        return []
    return [bytes(raw) for raw in msgspec.json.decode(cursor.encode(), type=list[Raw])]
