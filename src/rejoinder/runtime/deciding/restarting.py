"""A restart at an owner's word.

Rule 1: the command is settled before anything ends, so no gateway finds it again and restarts once more.
Rule 2: one that is older than this gateway has been obeyed by its start; and so has one that led to it, where nothing
        is kept and the platform tells of it again.
Rule 3: a gateway that would not come up again goes on as it is, and says why.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b

from msgspec import Struct

from rejoinder.errors import RejoinderError
from rejoinder.events import Inbound
from rejoinder.runtime.deciding.effects import Performed
from rejoinder.store.base import InboxEvent

EMBEDDED = "This gateway is a part of another program: it starts again with that one."
DONE_ALREADY = "The gateway has been restarted."
REMEMBERED = 20


class Reviving(Struct, frozen=True):
    """Whoever starts a gateway again. `check` raises what would keep it from coming up; `obeyed` are the commands that
    led to this start."""

    check: Callable[[], object]
    obeyed: tuple[str, ...] = ()


class Restart(Struct, frozen=True):
    """A gateway that is to begin again: by which commands, so that it obeys none of them twice."""

    obeyed: tuple[str, ...]


class Restarting:
    """`reviving`: None where nobody would start it again."""

    def __init__(self, reviving: Reviving | None, end: Callable[[Restart], None], now: datetime) -> None:
        self._reviving = reviving
        self._end = end
        self._began = now

    async def perform(self, asked: InboxEvent) -> Performed:
        reviving, command = self._reviving, named(asked.inbound)
        if reviving is None:
            return Performed(says=EMBEDDED)
        if asked.accepted < self._began or command in reviving.obeyed:
            return Performed(says=DONE_ALREADY)
        try:
            await asyncio.to_thread(reviving.check)
        except RejoinderError as wrong:
            return Performed(says=f"Not restarted, for it would not come up again: {wrong}")
        restart = Restart((*reviving.obeyed, command)[-REMEMBERED:])
        return Performed(then=lambda: self._end(restart))


def named(command: Inbound) -> str:
    """A word by which a command is known again, whatever its platform calls it."""
    full = f"{command.channel}/{command.account}/{command.event_id}"
    return blake2b(full.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
