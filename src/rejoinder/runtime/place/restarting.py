"""A restart that an owner commands.

Rule 1: the command is settled before the gateway ends, so the next one does not find it and restart once more.
Rule 2: a command older than this gateway has been obeyed by its start. So has a command that led to this start: where
        nothing is stored, the platform may deliver it again.
Rule 3: a gateway that could not start again keeps running, and says why.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b

from msgspec import Struct

from rejoinder.errors import RejoinderError
from rejoinder.events import Inbound
from rejoinder.runtime.place.effects import Performed
from rejoinder.store.base import InboxEvent

EMBEDDED = "This gateway is a part of another program: it starts again with that one."
DONE_ALREADY = "The gateway has been restarted."
REMEMBERED = 20


class Reviving(Struct, frozen=True):
    """What starts the gateway again. `check` raises the error that would keep it from starting; `obeyed` are the
    commands that led to this start."""

    check: Callable[[], object]
    obeyed: tuple[str, ...] = ()


class Restart(Struct, frozen=True):
    """A request to start the gateway again, with the commands that led to it, so that none is obeyed twice."""

    obeyed: tuple[str, ...]


class Restarting:
    """`reviving`: None where nothing would start the gateway again."""

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
            return Performed(says=f"Not restarted, because it would not start again: {wrong}")
        restart = Restart((*reviving.obeyed, command)[-REMEMBERED:])
        return Performed(then=lambda: self._end(restart))


def named(command: Inbound) -> str:
    """A short name by which a command is recognised, whatever its platform calls it."""
    full = f"{command.channel}/{command.account}/{command.event_id}"
    return blake2b(full.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
