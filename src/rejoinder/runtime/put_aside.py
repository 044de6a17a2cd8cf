"""Puts aside stored rows that cannot be read, by this version or by any, while everything else goes on (DU-14).

They stay on disk. The operator finds them in the log and with `rejoinder dead`; the people concerned are told where
their conversation is known.
"""

import logging
from collections.abc import Callable
from datetime import datetime

from rejoinder.events import Route
from rejoinder.runtime.sending import notices
from rejoinder.runtime.sending.conversations import Conversations
from rejoinder.runtime.unit import Unit
from rejoinder.store.base import (
    DropInputs,
    EndRun,
    PutEventAside,
    ResumeTurn,
    Run,
    Store,
    StoredPart,
    Unread,
    Verb,
    WithdrawParts,
)

log = logging.getLogger(__name__)

CANNOT_BE_READ = "it cannot be read"
PLANNED_BEFORE = "planned before a restart; its parts tell what arrived"
"""For an answered turn: it is closed before the fate of its parts is known, and one of them may be held."""


class Shelf:
    def __init__(self, store: Store, conversations: Conversations, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._conversations = conversations
        self._clock = clock

    async def put(self, unread: Unread) -> None:
        """Puts aside a row that the store itself could not read."""
        match unread.kind:
            case "event":
                await self._store.write(PutEventAside(unread.id, f"{CANNOT_BE_READ}: {unread.why}"))
                _log(unread.where, f"message {unread.message}", unread.why)
            case "input":
                await self.put_input(unread.where, unread.id, unread.message, None, unread.why)
            case "turn" if unread.answered:  # its answer is fully planned, so the question is no longer needed
                await self._close(unread.id)
            case "turn":
                await self.put_turn(unread.where, unread.id, unread.message, unread.route, unread.why)

    async def put_input(self, session: str, event: int, message: str, route: Route | None, why: object) -> None:
        await self._write_off(DropInputs(session, (event,), f"{CANNOT_BE_READ}: {why}"), message=message, route=route)
        _log(session, f"message {message}", why)

    async def put_turn(
        self,
        session: str,
        turn: int,
        message: str,
        route: Route | None,
        why: object,
        parts: tuple[StoredPart, ...] = (),
    ) -> None:
        """`parts`: those parts of its answer, planned or sent, that can be read."""
        now = self._clock()
        given_up = ResumeTurn(turn, now, now, most=0, why=f"{CANNOT_BE_READ}: {why}")
        await self._write_off(given_up, WithdrawParts(turn), message=message, route=route, parts=parts)
        _log(session, f"turn {turn}", why)

    async def _write_off(
        self, *verbs: Verb[object], message: str, route: Route | None, parts: tuple[StoredPart, ...] = ()
    ) -> None:
        unit, conversation = Unit(*verbs), None if route is None else self._conversations.at(route)
        if conversation is not None:
            unit.add_all((notices.unreadable(conversation, message, self._clock(), parts),))
        await unit.write(self._store)
        if conversation is not None:
            notices.wake((conversation,))

    async def _close(self, turn: int) -> None:
        now = self._clock()
        claim = await self._store.write(ResumeTurn(turn, now, now))
        if isinstance(claim, Run):
            await self._store.write(EndRun(claim, "answered", now, PLANNED_BEFORE))


def _log(where: str, what: str, why: object) -> None:
    log.error("%s: %s was put aside, for it cannot be read: %s", where, what, why)
