"""When a message is given up or may not have arrived: who is told, and how (DE-32, DU-3).

Rule 1: a notice is written in the commit of the failure that it reports: a crash leaves both or neither.
Rule 2: the person in the chat is told once about each answer that may not have arrived. That notice itself is never
        held: if its own result is unknown, it is sent again with the next call that succeeds there, also by another
        process.
Rule 3: an owner is told of both failures, in another chat (`owners`). There are no notices about notices.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeGuard

import msgspec
from msgspec import Struct

from rejoinder.events import DeliveryFailed, Route
from rejoinder.outbound import plan
from rejoinder.outbound.operations import Operation, React, Sign, decode, words
from rejoinder.outbound.plan import AnswerWording
from rejoinder.outbound.redact import redact
from rejoinder.runtime.outbox.owners import OwnerChats
from rejoinder.runtime.outbox.part_keys import Origin, notice_about, origin_of
from rejoinder.runtime.outbox.performing import intent
from rejoinder.runtime.services import Services
from rejoinder.store.base import AskHome, MoveCursor, PlanParts, StoredCursor, StoredPart, TellSession, Verb

log = logging.getLogger(__name__)

UNTOLD: Final = "untold "
"""The prefix of the cursors that store unconfirmed notices: one for each place, because its owner writes it."""
NOT_SENT: Final = "What you said to {channel} {chat} was not delivered: {why}."
NOT_REACTED: Final = "Your reaction in {channel} {chat} was not made: {why}."
NOT_DELETED: Final = "A message in {channel} {chat} was not deleted: {why}."
UNSURE: Final = "It is not known whether what you said to {channel} {chat} arrived: {why}."


class UnconfirmedNotice(Struct, frozen=True):
    """A notice that may not have arrived. `about`: what it is about, as in its key."""

    route: Route
    about: str
    text: str


_kept = msgspec.json.Decoder(list[UnconfirmedNotice])


class FailureRecord(Struct, frozen=True):
    """`verbs` are written in the commit that records the failure, `then` is called after it."""

    then: Callable[[], None]
    verbs: tuple[Verb[Any], ...] = ()


Sentence = Callable[[int | None], Awaitable[str]]
"""The sentence for a person whose answer may not have arrived: the answer of this turn or, if None, one of the
gateway's own."""


class DeliveryFailures:
    """`wake` wakes the sender of a place; `new_stem` makes a key for parts that belong to no turn."""

    def __init__(
        self,
        services: Services,
        owners: OwnerChats,
        sentence: Sentence,
        wake: Callable[[Route], None],
        new_stem: Callable[[], str],
    ) -> None:
        self._services = services
        self._owners = owners
        self._sentence = sentence
        self._wake = wake
        self._new_stem = new_stem
        self._tell = services.hooks.tell
        self._untold: dict[Route, UnconfirmedNotice] = {}

    async def read(self) -> None:
        """Reads, once, which notices earlier processes have left to be repeated."""
        for channel in self._services.channels:
            for kept in (await self._services.store.cursors(channel, UNTOLD)).values():
                for each in _kept.decode(kept):
                    self._untold[each.route] = each

    async def given_up(self, row: StoredPart, operation: Operation, error: str) -> FailureRecord:
        if isinstance(operation, Sign):
            for_session = await self._for_session(
                row, error, NOT_REACTED if isinstance(operation, React) else NOT_DELETED
            )
            return FailureRecord(
                lambda: log.warning("%s: %s was not done: %s", row.route.channel, row.kind, error), for_session
            )
        failed = DeliveryFailed(row.route, row.key, words(operation), error)
        to_owner = None if is_notice(row) else await self._for_owner(failed, held=False)
        for_session = await self._for_session(row, error, NOT_SENT)

        def then() -> None:
            what = "%s: gave up on a message to %s: %s; `rejoinder dead` lists it"
            log.error(what, row.route.channel, row.route.chat, error)
            self._tell(failed)
            self._wake_for(to_owner)

        return FailureRecord(then, (*for_session, *(() if to_owner is None else (to_owner,))))

    async def held(self, row: StoredPart, operation: Operation, error: str) -> FailureRecord:
        what = "%s: it is not known whether %s arrived: %s; `rejoinder dead` lists it"
        to_owner = notice = None
        origin = origin_of(row)
        about = f"t{row.turn}" if row.turn is not None else origin.about if _is_own_answer(origin) else None
        if about is not None:
            failed = DeliveryFailed(row.route, row.key, words(operation), error)
            to_owner = await self._for_owner(failed, held=True)
            notice = self._notice(row.route, about, await self._sentence(row.turn))

        def then() -> None:
            log.warning(what, row.route.channel, row.key, error)
            self._wake_for(to_owner)
            self._wake_for(notice)

        for_session = await self._for_session(row, error, UNSURE)
        return FailureRecord(then, (*for_session, *[each for each in (to_owner, notice) if each is not None]))

    async def _for_session(self, row: StoredPart, error: str, sentence: str) -> tuple[AskHome, ...]:
        """Tells a session in another home what happened to its words, with its next turn: the turn that said them is
        over (SC-1)."""
        if row.turn is None or self._services.shards == 1:
            return ()
        session = await self._services.store.session_of_turn(row.turn)
        if session is None or self._services.is_at_home(session):
            return ()
        there = row.route
        event = sentence.format(channel=there.channel, chat=there.chat, why=error.rstrip(". "))
        return (AskHome(session, TellSession(event)),)

    def _notice(self, route: Route, about: str, text: str) -> PlanParts | None:
        """The notice for the person in the chat."""
        return self._said(route, notice_about(about).stem, text)

    async def _for_owner(self, failed: DeliveryFailed, *, held: bool) -> PlanParts | None:
        notice = await self._owners.notice(failed, held=held)
        return None if notice is None else self._said(notice[0], self._new_stem(), redact(notice[1]))

    def not_told(self, notice: StoredPart) -> MoveCursor:
        """It is unknown whether this notice arrived: returns the verb that has it said once more."""
        route, origin = notice.route, origin_of(notice)
        about = f"{origin.about if origin is not None else notice.id}-again"
        self._untold[route] = UnconfirmedNotice(route, about, words(decode(notice.body)))
        return self._to_keep(route)

    def said_again(self, route: Route) -> tuple[Verb[Any], ...]:
        """Verbs that repeat the notice this place still has to get, under a new key."""
        if (untold := self._untold.pop(route, None)) is None:
            return ()
        notice = self._notice(route, untold.about, untold.text)
        return (self._to_keep(route), *(() if notice is None else (notice,)))

    def _to_keep(self, route: Route) -> MoveCursor:
        untold = [self._untold[route]] if route in self._untold else []
        name = UNTOLD + msgspec.json.encode((route.account, route.chat, route.thread)).decode()
        return MoveCursor(StoredCursor(route.channel, name, msgspec.json.encode(untold).decode()))

    def _said(self, route: Route, stem: str, text: str) -> PlanParts | None:
        """None where the channel is no longer configured."""
        if route.channel not in self._services.channels:
            return None
        delivery = self._services.settings.now.channel(route.channel).delivery
        said = plan.say(text, route, delivery.options, AnswerWording(), stem)
        return PlanParts(tuple(intent(each, route) for each in said), self._services.clock())

    def _wake_for(self, planned: PlanParts | None) -> None:
        for part in planned.parts if planned is not None else ():
            self._wake(part.route)


def is_notice(row: StoredPart) -> bool:
    origin = origin_of(row)
    return origin is not None and origin.purpose == "unconfirmed"


def _is_own_answer(origin: Origin | None) -> TypeGuard[Origin]:
    return origin is not None and origin.purpose == "event"
