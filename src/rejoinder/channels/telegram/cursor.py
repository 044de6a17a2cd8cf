"""How far Telegram has been read, and what it tells us only once; stored in the messages' transaction (DU-1).

For a bot that polls this is just a number, unless there is more to keep.
"""

import msgspec
from msgspec import Raw, Struct


class Cursor(Struct, frozen=True, omit_defaults=True):
    offset: int | None = None
    """The next update; None with a webhook."""
    waiting: tuple[Raw, ...] = ()
    """With a webhook: updates that wait for the rest of their album, in Telegram's own bytes, since only we have
    them."""
    moved: dict[int, int] = {}
    """Groups that have become supergroups: their new ids, by the old ones."""


def write_cursor(cursor: Cursor) -> str:
    if cursor.offset is not None and not cursor.waiting and not cursor.moved:
        return str(cursor.offset)
    return msgspec.json.encode(cursor).decode()


def read_cursor(kept: str | None) -> Cursor:
    if kept is None:
        return Cursor()
    if kept.isdecimal():
        return Cursor(int(kept))
    if kept.startswith("["):  # an older format, which held only `waiting`
        return Cursor(waiting=tuple(msgspec.json.decode(kept, type=list[Raw])))
    return msgspec.json.decode(kept, type=Cursor)
