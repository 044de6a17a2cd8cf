"""How far Telegram has been read, and what it told us once: kept in the store in the same transaction (DU-1).

For a bot that is polled that is a number, and nothing else is written unless there is more.
"""

import msgspec
from msgspec import Raw, Struct


class Cursor(Struct, frozen=True, omit_defaults=True):
    offset: int | None = None
    """The next update; None behind a webhook."""
    waiting: tuple[Raw, ...] = ()
    """Behind a webhook: what waits for its album, in Telegram's own bytes, since nobody else has it."""
    moved: dict[int, int] = {}
    """Groups that have become supergroups, by the ids they had."""


def write_cursor(cursor: Cursor) -> str:
    if cursor.offset is not None and not cursor.waiting and not cursor.moved:
        return str(cursor.offset)
    return msgspec.json.encode(cursor).decode()


def read_cursor(kept: str | None) -> Cursor:
    if kept is None:
        return Cursor()
    if kept.isdecimal():
        return Cursor(int(kept))
    if kept.startswith("["):  # as it was written before there was anything but what waits
        return Cursor(waiting=tuple(msgspec.json.decode(kept, type=list[Raw])))
    return msgspec.json.decode(kept, type=Cursor)
