"""How far Discord has been read: the gateway's session, stored in the messages' transaction (CH-20)."""

import msgspec
from msgspec import Struct

from rejoinder.channels.discord.budget import RefusedCalls


class StoredAllowance(Struct, frozen=True, omit_defaults=True):
    """How much of Discord's allowance the bot has used; all times are wall-clock times."""

    began: float = 0.0
    """When the bot last began a session."""
    refused: tuple[RefusedCalls, ...] = ()
    shut_out_until: float = 0.0


class Cursor(Struct, frozen=True, omit_defaults=True):
    session: str = ""
    sequence: int = 0
    """The last event of the session that is stored or does not need to be."""
    address: str = ""
    """Where Discord wants the session to be resumed."""
    since: str = ""
    """The newest message stored in any place."""
    spent: StoredAllowance = StoredAllowance()


def write_cursor(cursor: Cursor) -> str:
    return msgspec.json.encode(cursor).decode()


def read_cursor(kept: str | None) -> Cursor | None:
    """None at the first start, when there is nothing to catch up on."""
    return None if kept is None else msgspec.json.decode(kept, type=Cursor)
