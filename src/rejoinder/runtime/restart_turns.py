"""`/restart` where several processes share a store: all of them start again, one after the other (SC-25).

`turns.restarts` decides which process restarts and when; this module reads and writes the rows.

Rule 1: one row says that a restart was requested and when; it is written with the end of the command.
Rule 2: another row says whose turn it is. A process that writes it holds the lease of that name meanwhile.
Rule 3: a process that could not start again keeps running, and says why.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from rejoinder.errors import RejoinderError, StoreUnavailable
from rejoinder.runtime.ownership.database_clock import DatabaseClock
from rejoinder.runtime.place.restarting import Restart, RestartCheck, remembered
from rejoinder.runtime.settings_agreement import DEBUG
from rejoinder.store.base import PutFact, SharedStore, Verb
from rejoinder.turns.restarts import RestartRequest, RestartTurn, is_free, is_obeyed, is_over, turn_of

log = logging.getLogger(__name__)

SCOPE: Final = "gateway/restart"
ASKED: Final = "asked"
TURN: Final = "turn"
LEASE: Final = "restart"
LOOK_SECONDS: Final = 1.0


async def ask_all(store: SharedStore, command: str, at: datetime) -> tuple[Verb[Any], ...]:
    """Verbs to write with the end of the command; they also remove what `/debug` has set."""
    row = msgspec.json.encode(RestartRequest(at, command))
    return PutFact(SCOPE, ASKED, row), *(PutFact(DEBUG, key, None) for key in await store.facts(DEBUG))


class RestartTurns:
    """`end`: ends this process cleanly, to be started again."""

    def __init__(
        self,
        store: SharedStore,
        holder: str,
        restart_check: RestartCheck,
        clock: DatabaseClock,
        end: Callable[[Restart], None],
    ) -> None:
        self._store = store
        self._holder = holder
        self._restart_check = restart_check
        self._obeyed = restart_check.obeyed
        self._clock = clock
        self._end = end
        self._began: datetime | None = None

    async def run(self) -> None:
        """This process has started: says so if others wait for it, and takes its turn when a restart is requested."""
        while True:
            try:
                if self._began is None:
                    await self._return()
                elif await self._look(self._began):
                    return
            except StoreUnavailable as fault:
                log.debug("skipped for now: %s", fault)  # the store has logged it already
            await asyncio.sleep(LOOK_SECONDS)

    async def _return(self) -> None:
        if not self._clock.is_told:
            return
        if is_over(_row(await self._store.facts(SCOPE), TURN, RestartTurn), self._restart_check.returns):
            await self._store.write(PutFact(SCOPE, TURN, None))
        self._began = self._clock()

    async def _look(self, began: datetime) -> bool:
        """Returns whether this process ends now."""
        rows = await self._store.facts(SCOPE)
        request = _row(rows, ASKED, RestartRequest)
        if request is None or not is_obeyed(request, began, self._obeyed):
            return False
        try:
            await asyncio.to_thread(self._restart_check.check)
        except RejoinderError as wrong:
            log.error("Not restarted, because it would not start: %s", wrong)
            self._obeyed = remembered(self._obeyed, request.command)
            return False
        if not is_free(_row(rows, TURN, RestartTurn), self._clock()) or not await self._take():
            return False
        self._end(Restart(remembered(self._obeyed, request.command), self._holder))
        return True

    async def _take(self) -> bool:
        """Checks and writes under a lease, so that only one of two processes that find the turn free gets it."""
        if (lease := await self._store.claim_named(LEASE, self._holder)) is None:
            return False
        try:
            now = self._clock()
            if not is_free(_row(await self._store.facts(SCOPE), TURN, RestartTurn), now):
                return False
            row = msgspec.json.encode(turn_of(self._holder, now))
            await self._store.write(PutFact(SCOPE, TURN, row))
            return True
        finally:
            await self._store.release(lease)


def _row(rows: Mapping[str, bytes], key: str, kind: type[Any]) -> Any:
    """None if there is no such row, or only one of another version."""
    try:
        return msgspec.json.decode(rows[key], type=kind)
    except (KeyError, msgspec.MsgspecError):
        return None
