"""Quarantine, for turns and messages that ended the process each time they ran alone (DU-2), and for stored rows that
cannot be read (DU-14).

Quarantined rows stay on disk while everything else goes on. The operator finds them in the log and with `rejoinder
dead`; the people concerned are told, if their conversation is known. `/resend`, `rejoinder dead --retry` and the
console run them again.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from rejoinder.events import Inbound, Route
from rejoinder.runtime.outbox.conversations import Conversation, Conversations
from rejoinder.runtime.services import Services
from rejoinder.runtime.session import notices
from rejoinder.runtime.session.prefixes import Prefix, Prefixes
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import (
    CloseTurn,
    DropInputs,
    InboxEvent,
    PlanParts,
    QuarantineEvent,
    QuarantineTurn,
    StoredPart,
    StoredTurn,
    UnreadableRow,
    Verb,
    WithdrawParts,
)
from rejoinder.turns.suspicion import MOST_ALONE

log = logging.getLogger(__name__)

ENDS_THE_PROCESS: Final = f"the process died {MOST_ALONE} times while nothing else was under way"
CANNOT_BE_READ: Final = "it cannot be read"
PLANNED_BEFORE: Final = "planned before a restart; its parts show what arrived"
"""The reason for closing an answered turn before the results of its parts are known; one of them may be held."""


class Quarantine:
    def __init__(
        self,
        services: Services,
        conversations: Conversations,
        prefixes: Prefixes,
        may_resend: Callable[[Inbound], Awaitable[bool]],
    ) -> None:
        self._store = services.store
        self._conversations = conversations
        self._prefixes = prefixes
        self._may_resend = may_resend
        self._tasks = services.tasks
        self._clock = services.clock

    # --- what ended the process ---------------------------------------------------------------------

    async def put_turn(
        self,
        turn: StoredTurn,
        messages: Sequence[Inbound],
        parts: tuple[StoredPart, ...],
        conversation: Conversation,
        prefix: Prefix | None,
    ) -> None:
        """`prefix`: the prefix of the notice; None if nobody waits for the answer."""
        log.error("%s: turn %d is quarantined: %s", turn.session, turn.id, ENDS_THE_PROCESS)
        now, notice = self._clock(), None
        if prefix is not None:
            may_resend = await self._may_resend(messages[-1])
            notice = notices.quarantined(conversation, messages, now, prefix, parts, may_resend=may_resend)
        verbs = (QuarantineTurn(turn.id, now, ENDS_THE_PROCESS), WithdrawParts(turn.id))
        await self._write(conversation, verbs, notice, messages[-1].message_id)
        notices.clear(conversation, parts)

    async def put_event(self, event: InboxEvent) -> None:
        inbound = event.inbound
        log.error("message %s of %s is quarantined: %s", inbound.message_id, inbound.channel, ENDS_THE_PROCESS)
        conversation = self._conversations.of(inbound)
        prefix, may_resend = await self._prefixes.of_undecided(inbound), await self._may_resend(inbound)
        notice = notices.quarantined(conversation, (inbound,), self._clock(), prefix, may_resend=may_resend)
        verbs = (QuarantineEvent(event.id, ENDS_THE_PROCESS),)
        await self._write(conversation, verbs, notice, inbound.message_id)

    async def _write(
        self, conversation: Conversation, verbs: tuple[Verb[Any], ...], notice: PlanParts | None, message: str
    ) -> None:
        await WriteBatch(*verbs, *(() if notice is None else (notice,))).write(self._store)
        notices.wake((conversation,))
        note = f"Message {message} is quarantined; `rejoinder explain {message}` says more."
        self._tasks.start("quarantined", conversation.notify_operator(note))

    # --- what cannot be read ------------------------------------------------------------------------

    async def put_unread(self, unread: UnreadableRow) -> None:
        """Quarantines a row that the store itself could not read."""
        match unread.kind:
            case "event":
                await self._store.write(QuarantineEvent(unread.id, f"{CANNOT_BE_READ}: {unread.why}"))
                _log(unread.where, f"message {unread.message}", unread.why)
            case "input":
                await self.put_unreadable_input(unread.where, unread.id, unread.message, None, unread.why)
            case "turn" if unread.answered:  # its answer is fully planned, so the question is no longer needed
                await self._close(unread.id)
            case "subagent":
                pass  # subagents.py writes it off
            case "turn":
                await self.put_unreadable_turn(unread.where, unread.id, unread.message, unread.route, unread.why)

    async def put_unreadable_input(
        self, session: str, event: int, message: str, route: Route | None, why: object
    ) -> None:
        dropped = DropInputs(session, (event,), f"{CANNOT_BE_READ}: {why}")
        await self._write_off(session, dropped, message=message, route=route)
        _log(session, f"message {message}", why)

    async def put_unreadable_turn(
        self,
        session: str,
        turn: int,
        message: str,
        route: Route | None,
        why: object,
        parts: tuple[StoredPart, ...] = (),
    ) -> None:
        """`parts`: the readable parts of its answer, planned or sent."""
        quarantined = QuarantineTurn(turn, self._clock(), f"{CANNOT_BE_READ}: {why}")
        await self._write_off(session, quarantined, WithdrawParts(turn), message=message, route=route, parts=parts)
        _log(session, f"turn {turn}", why)

    async def _write_off(
        self, session: str, *verbs: Verb[object], message: str, route: Route | None, parts: tuple[StoredPart, ...] = ()
    ) -> None:
        batch, conversation = WriteBatch(*verbs), None if route is None else self._conversations.at(route)
        if conversation is not None:
            prefix = await self._prefixes.of_unreadable(conversation.route.channel, session)
            batch.add_all((notices.unreadable(conversation, message, self._clock(), prefix, parts),))
        await batch.write(self._store)
        if conversation is not None:
            notices.wake((conversation,))
            notices.clear(conversation, parts)

    async def _close(self, turn: int) -> None:
        await self._store.write(CloseTurn(turn, "answered", self._clock(), PLANNED_BEFORE))


def _log(where: str, what: str, why: object) -> None:
    log.error("%s: %s is quarantined, because it cannot be read: %s", where, what, why)
