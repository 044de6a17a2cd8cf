"""A restart that an owner commands.

Rule 1: the command is settled before the gateway ends, so the next one does not find it and restart once more.
Rule 2: a command older than this gateway was obeyed by starting it. So was a command that led to this start, which the
        platform may deliver again if nothing was stored.
Rule 3: a gateway that could not start again keeps running, and says why.
Rule 4: if several gateways share a store, the commit of the decision passes the command on to all of them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from rejoinder.errors import RejoinderError
from rejoinder.events import Inbound
from rejoinder.runtime.place.effects import EffectResult
from rejoinder.store.base import InboxEvent, Verb

EMBEDDED = "This gateway is part of another program: restart that program."
DONE_ALREADY = "The gateway has been restarted."
IN_TURN = "All gateways restart, one after the other."
REMEMBERED = 20


class RestartCheck(Struct, frozen=True):
    """Lets the gateway be started again. `check` raises the error that would keep it from starting; `obeyed` are the
    commands that led to this start."""

    check: Callable[[], object]
    obeyed: tuple[str, ...] = ()
    returns: str = ""
    """The name that this process had before it was started again, if others wait for its return."""


class Restart(Struct, frozen=True):
    """A request to start the gateway again, with the commands that led to it, so that none is obeyed twice."""

    obeyed: tuple[str, ...]
    returns: str = ""


AskAll = Callable[[str, datetime], Awaitable[tuple[Verb[Any], ...]]]
"""Takes the command and when it was accepted; returns the verbs that ask all gateways on a store to restart."""


class Restarting:
    """`restart_check`: None if nothing would start the gateway again. `ask_all`: None if this is the only gateway on
    its store."""

    def __init__(
        self,
        restart_check: RestartCheck | None,
        end: Callable[[Restart], None],
        now: datetime,
        ask_all: AskAll | None = None,
    ) -> None:
        self._restart_check = restart_check
        self._end = end
        self._began = now
        self._ask_all = ask_all

    async def perform(self, event: InboxEvent) -> EffectResult:
        restart_check, command = self._restart_check, named(event.inbound)
        if restart_check is None:
            return EffectResult(says=EMBEDDED)
        is_earlier = self._ask_all is None and event.accepted < self._began
        if is_earlier or command in restart_check.obeyed:
            return EffectResult(says=DONE_ALREADY)
        try:
            await asyncio.to_thread(restart_check.check)
        except RejoinderError as wrong:
            return EffectResult(says=f"Not restarted, because it would not start: {wrong}")
        if self._ask_all is not None:
            return EffectResult(await self._ask_all(command, event.accepted), says=IN_TURN)
        restart = Restart(remembered(restart_check.obeyed, command))
        return EffectResult(then=lambda: self._end(restart))


def remembered(obeyed: tuple[str, ...], command: str) -> tuple[str, ...]:
    return (*obeyed, command)[-REMEMBERED:]


def named(command: Inbound) -> str:
    """A short name by which a command is recognised, whatever its platform calls it."""
    full = f"{command.channel}/{command.account}/{command.event_id}"
    return blake2b(full.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
