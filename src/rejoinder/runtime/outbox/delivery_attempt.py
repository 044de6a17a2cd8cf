"""Sends one part of a conversation: makes the call, acts on its outcome, and stores the result.

Rule 1: a result is stored, however long the store takes to recover (DU-15).
Rule 2: callers that wait for a part are told as soon as it has arrived; the receipt is stored after that.
Rule 3: a part that may or may not have arrived is looked up where the channel can do that (DU-3); the parts behind it
        wait until its result is settled.
Which part is sent when is decided by the line (`sender`), not here.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from random import random
from typing import Final, Protocol
from weakref import ref

from msgspec import DecodeError
from msgspec.structs import replace

from rejoinder.channels.base import (
    CanFind,
    CanFindFiles,
    CanFindOpening,
    Delivered,
    OpensPlaces,
    Outcome,
    Rejected,
    Unknown,
)
from rejoinder.crashpoint import calling, crashpoint
from rejoinder.errors import LeaseLost, Superseded
from rejoinder.events import Part, ReplySent, Route
from rejoinder.outbound.forms import form_of
from rejoinder.outbound.operations import Open, Operation, React, Remove, Say, Words, decode, keyed, words
from rejoinder.outbound.plan import PlannedOperation
from rejoinder.outbound.verdict import (
    Arrived,
    Forget,
    GiveUp,
    HoldBack,
    LookAgain,
    LookUp,
    OnUnknown,
    Recognises,
    Resend,
    Retry,
    Verdict,
    judge,
    judge_look,
)
from rejoinder.runtime.abilities import can
from rejoinder.runtime.account_pace import AccountPace
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.outbox.delivery_failures import DeliveryFailures, is_notice
from rejoinder.runtime.outbox.delivery_results import DeliveryResult, Sent, Unsent
from rejoinder.runtime.outbox.messages import MessageIndex
from rejoinder.runtime.outbox.pacing import ConversationPace
from rejoinder.runtime.outbox.performing import StoreAndFiles, checked, intent, perform, recognised_by, storable, where
from rejoinder.runtime.outbox.typing_calls import TypingCalls
from rejoinder.runtime.outbox.yielding_calls import YieldingCalls
from rejoinder.runtime.services import Services
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import (
    BuryPart,
    DropPart,
    ForgetMessage,
    HoldPart,
    IndexedMessage,
    MarkSent,
    MarkUnknown,
    PlanParts,
    ResendPart,
    RetryPart,
    StoredPart,
    Verb,
)

log = logging.getLogger(__name__)

LATEST_MESSAGES = 50
OPENING: Final = "open"
LEFT: Final = timedelta(seconds=10)
"""How long until a part that was left to other processes is tried again, if its shard has not moved."""


class PartQueue(Protocol):
    """The queue in which the parts of one conversation wait."""

    route: Route
    pace: ConversationPace
    low_priority: YieldingCalls
    typing_calls: TypingCalls
    messages: MessageIndex
    index_at: Callable[[Route], MessageIndex | None]

    def over(self, row: StoredPart, result: DeliveryResult) -> None:
        """The part is finished: nothing more is done for it."""
        ...

    def has_more(self) -> None:
        """The store may have something to send, now or later."""
        ...

    def wake(self, *, rows: bool = False) -> None: ...

    def settle(self, row: StoredPart) -> None:
        """Finds out whether the part has arrived; see `DeliveryAttempts.settle`."""
        ...


class DeliveryAttempts:
    def __init__(self, services: Services, account: AccountPace, line: PartQueue, failures: DeliveryFailures) -> None:
        self.looking: set[int] = set()
        """Parts that may or may not have arrived; the parts behind them wait."""
        self.arriving: dict[str, Sent] = {}
        """Parts that have arrived but whose receipt is not stored yet, by key."""
        self._services = services
        self._route = line.route
        self._channel = account.channel
        self.recognised_by: Recognises = recognised_by(account.channel)
        """How to find out the result of a call that got no answer."""
        self._account = account
        self._store = services.store
        self._kept = StoreAndFiles(services.store, services.blobs, services.lease.check)
        self._clock = services.clock
        self._failures = failures
        self._line_ref = ref(line)
        self._looks: dict[int, int] = {}
        """How often the platform was asked for a part."""

    @property
    def _line(self) -> PartQueue:
        """The queue owns these attempts, so they hold it only weakly. Otherwise neither would be freed when nobody uses
        the conversation any more."""
        line = self._line_ref()
        assert line is not None, "whoever makes an attempt keeps its line"
        return line

    @property
    def _on_unknown(self) -> OnUnknown:
        return self._services.settings.now.channel(self._route.channel).delivery.on_unknown

    async def send(self, row: StoredPart, operation: Operation | None = None) -> None:
        """`operation`: the one that the row was just made of; without it, it is read from the row."""
        try:
            operation = operation or decode(row.body)
        except DecodeError as error:
            return await (self._leave(row, error) if self._is_of_another(row) else self._bury(row, error))
        omitted, line = frozenset(row.omitted), self._line
        place = await self._place_of(row) if self._may_move(operation) else None
        before, accepted = _POINTS.get(type(operation), ("K16", "K17"))
        crashpoint(before)
        self._services.lease.check()
        try:
            line.pace.spend()
            with line.typing_calls.speaking(), calling(accepted):
                call = perform(operation, self._channel, self._route, omitted, self._kept, place, self._clock())
                outcome = await guarded(line.low_priority.run(call) if type(operation) is React else call)
            outcome = checked(outcome)
        except LeaseLost:
            raise
        except Exception as error:  # a channel may be third-party code
            log.exception("%s failed while sending a part", self._channel.name)
            outcome = Unknown(f"{type(error).__name__}: {error}")
        try:
            await self._conclude(row, operation, storable(outcome))
        except Superseded as lost:  # the call outlasted its claim: the new claimant settles the part
            log.warning("%s: %s", self._channel.name, lost)
        crashpoint("K19")

    def _is_of_another(self, row: StoredPart) -> bool:
        """Whether another process on the store may know how to send it. A damaged part has no body."""
        return self._services.is_shared and bool(row.body)

    async def _leave(self, row: StoredPart, error: DecodeError) -> None:
        """Leaves the part at the head of its queue until a process that can read it owns the shard (SC-25)."""
        log.warning("%s: part %s is left to other processes: %s", self._channel.name, row.key, error)
        later = self._clock() + LEFT
        await self._keep(RetryPart(row, later, f"left to other processes: {error}", False, row.omitted))
        self._line.has_more()

    async def _bury(self, row: StoredPart, error: DecodeError) -> None:
        """Gives up a part of another version, or a damaged one: it must not hold up the parts behind it."""
        log.error("%s: part %s cannot be read: %s", self._channel.name, row.key, error)
        await self._keep(BuryPart(row, f"it cannot be read: {error}"))
        self._line.over(row, Unsent("it cannot be read"))

    def _judge(self, outcome: Outcome, operation: Operation, row: StoredPart) -> Verdict:
        return judge(
            outcome,
            operation,
            self.recognised_by,
            tries=row.attempts,
            omitted=frozenset(row.omitted),
            on_unknown=self._on_unknown,
            jitter=random(),
        )

    async def _conclude(self, row: StoredPart, operation: Operation, outcome: Outcome) -> None:
        verdict = self._judge(outcome, operation, row)
        now = self._clock()
        match verdict:
            case Arrived(message=message, place=place):
                self._works_again()
                crashpoint("K12" if type(operation) is Open else "K18")
                await self._arrived(row, operation, message, now, place=place)
            case Retry():
                await self._later(row, verdict, now)
            case LookUp(error=error):
                await self._keep(MarkUnknown(row, error))
                await self._look(replace(row, state="unknown", error=error), operation)
            case HoldBack(error=error):
                await self._hold(replace(row, state="unknown"), operation, error, MarkUnknown(row, error))
            case Forget(error=error):
                unknown = replace(row, state="unknown")
                await self._keep(MarkUnknown(row, error), HoldPart(unknown), DropPart(replace(row, state="held")))
                self._line.over(row, Unsent(error))
            case GiveUp(error=error):
                failure = await self._failures.given_up(row, operation, error)
                await self._keep(BuryPart(row, error), *failure.verbs)
                self._line.over(row, Unsent(error))
                failure.then()

    async def _arrived(
        self,
        row: StoredPart,
        operation: Operation,
        message: str,
        now: datetime,
        *also: Verb[object],
        place: Route | None = None,
    ) -> None:
        """`also`: verbs to write with the receipt. `place`: where the message is, if not where it was sent (CH-2)."""
        said, line = words(operation), self._line
        receipt, author = (message, operation.part.author) if isinstance(operation, Words) else (None, "")
        place = None if place == self._route else place
        had_files = isinstance(operation, Say) and bool(operation.part.files)
        marked = MarkSent(row, receipt, now, said, author, place, had_files)
        # Waiting callers continue before the receipt is durable: what they write comes after it, usually in the same
        # commit.
        sent = self.arriving[row.key] = Sent(message)
        line.over(row, sent)
        if again := self._failures.said_again(self._route):
            also = (*also, *again)
            line.has_more()
        if type(operation) is Remove:
            also = (*also, ForgetMessage(self._route, operation.message))
        hooks = self._services.hooks
        reply: ReplySent | None = None
        if hooks.wants(ReplySent) and isinstance(operation, Words) and not isinstance(operation, Open):
            reply = ReplySent(place or self._route, message, said, row.turn)
            also = (*also, *hooks.kept(reply))
        try:
            known, *_ = await self._keep(marked, *also)
        finally:
            del self.arriving[row.key]
        if type(operation) is Remove:
            line.messages.forget(operation.message)
        if isinstance(known, IndexedMessage):
            index = line.messages if place is None else line.index_at(place)
            if index is not None:
                index.note(known)
        if reply is not None:
            hooks.tell(reply, kept=True)

    async def _place_of(self, row: StoredPart) -> Route | None:
        """The place where earlier messages of this answer arrived, if that is not here: this one follows them
        (CH-2)."""
        for other in await self._store.parts_under(row.key.rsplit("/", 2)[0]):
            if other.id < row.id and other.kind == row.kind and other.receipt and other.route == row.route:
                stands = await where(other.receipt, row.route, self._channel, self._store)
                return None if stands == row.route else stands
        return None

    def _may_move(self, operation: Operation) -> bool:
        channel = self._channel
        if not isinstance(operation, Say):
            return False
        return operation.part.opens is not None or (can(channel, OpensPlaces) and channel.opens_place(self._route))

    async def _later(self, row: StoredPart, verdict: Retry, now: datetime) -> None:
        if verdict.refused:
            was, seconds = self._account.trouble, self._account.refuse(verdict.error)
            if not was:
                refused = "%s: nothing can be sent: %s; messages are kept and tried again in %.0f s, then each minute"
                log.error(refused, self._channel.name, verdict.error, seconds)
        elif verdict.omits is not None:
            log.warning("%s refused a %s: %s", self._channel.name, verdict.omits, verdict.error)
        elif verdict.everywhere:
            waits = "%s: nothing is sent for %.0f s: %s; messages are kept"
            log.warning(waits, self._channel.name, verdict.seconds, verdict.error)
        elif verdict.seconds:
            log.info("%s: trying again in %.1f s: %s", self._channel.name, verdict.seconds, verdict.error)
        at, omitted = now + timedelta(seconds=verdict.seconds), {*row.omitted, *filter(None, (verdict.omits,))}
        await self._keep(RetryPart(row, at, verdict.error, verdict.counted, tuple(sorted(omitted))))
        if not verdict.counted:
            self._line.pace.pause(verdict.seconds, everywhere=verdict.everywhere)
        self._line.has_more()

    def _works_again(self) -> None:
        if self._account.trouble:
            log.warning("%s: the platform accepts our messages again", self._channel.name)
            self._account.accept()

    async def _look(self, row: StoredPart, operation: Operation) -> None:
        """Asks the platform whether the part arrived; until that is known nothing else is sent here."""
        channel, now = self._channel, self._clock()
        self.looking.add(row.id)
        outcome: Outcome = Unknown("it cannot be looked up")
        self._services.lease.check()
        try:
            if can(channel, CanFind) and isinstance(operation, Say | Open):
                place = await self._place_of(row) if self._may_move(operation) else None
                form = form_of(operation.part, None, frozenset(row.omitted), place)
                if form.files and can(channel, CanFindFiles):
                    known = await self._store.messages(form.route, limit=LATEST_MESSAGES)
                    looking = channel.find_files(form, row.planned, {message.id for message in known})
                else:
                    looking = channel.find(form, row.planned)
                outcome = checked(await guarded(looking))
                if isinstance(outcome, Delivered) and outcome.place is None and form.route != self._route:
                    outcome = Delivered(outcome.message, form.route)
            elif can(channel, CanFindOpening) and isinstance(operation, Open):
                outcome = checked(await guarded(self._find_opening(row, operation.part, channel)))
        except Exception:  # a channel may be third-party code
            log.exception("%s failed to look a part up", self._channel.name)
        looks = self._looks.pop(row.id, 0) + 1
        verdict = judge_look(storable(outcome), operation, row.error, looks=looks, on_unknown=self._on_unknown)
        match verdict:
            case Arrived(message=message, place=place):
                unwanted = await self._unwanted(row, operation, message, now)
                await self._arrived(row, operation, message, now, *unwanted, place=place)
            case Retry():
                await self._later(row, verdict, now)
                self.looking.discard(row.id)
            case LookAgain(seconds=seconds, counted=counted):
                self._looks[row.id] = looks if counted else looks - 1
                if not counted:
                    self._line.pace.pause(seconds, everywhere=verdict.everywhere)
                asyncio.get_running_loop().call_later(seconds, self._line.settle, row)
            case Resend():
                await self._keep(ResendPart(row))
                self.looking.discard(row.id)
                self._line.has_more()
            case HoldBack(error=error):
                await self._hold(row, operation, error)
            case Forget(error=error):
                await self._forget(row, error)

    async def _find_opening(self, row: StoredPart, part: Part, channel: CanFindOpening) -> Outcome:
        """Looks for the opening only if nothing else of ours can be there, so that it cannot pick another message that
        arrived meanwhile."""
        chat = (row.route.channel, row.route.account, row.route.chat)
        messages = await self._store.messages(self._route, limit=LATEST_MESSAGES)
        older = [message for message in messages if message.at <= row.planned]
        since = max((message.at for message in older), default=row.planned)
        for other in await self._store.parts_in("held", "unknown", "sending"):
            there = (other.route.channel, other.route.account, other.route.chat)
            if there == chat and other.id != row.id and other.planned >= since and other.kind != OPENING:
                return Rejected("something else may have arrived there")
        newer = [message.id for message in messages if message.at > row.planned]
        return await channel.find_opening(part, [message.id for message in older], newer)

    async def _unwanted(
        self, row: StoredPart, operation: Operation, message: str, now: datetime
    ) -> tuple[PlanParts, ...]:
        """Removes a draft whose turn has already ended."""
        turn = await self._store.turn(row.turn) if row.turn is not None and isinstance(operation, Open) else None
        if turn is None or turn.turn.state == "open":
            return ()
        removed = PlannedOperation(*keyed(Remove(message), f"{row.key}/left"))
        self._line.has_more()
        return (PlanParts((intent(removed, self._route),), now),)

    async def _hold(self, row: StoredPart, operation: Operation, error: str, *before: Verb[object]) -> None:
        """`before`: verbs that mark the part unknown. A notice is not held but said again later
        (delivery_failures.py)."""
        if is_notice(row):
            untold = self._failures.not_told(row)
            await self._keep(*before, HoldPart(row), DropPart(replace(row, state="held")), untold)
            return self._line.over(row, Unsent(error))
        failure = await self._failures.held(row, operation, error)
        await self._keep(*before, HoldPart(row), *failure.verbs)
        self._line.over(row, Unsent(error, held=True))
        failure.then()

    async def _forget(self, row: StoredPart, error: str) -> None:
        await self._keep(HoldPart(row), DropPart(replace(row, state="held")))
        self._line.over(row, Unsent(error))

    # --- after a restart ----------------------------------------------------------------------------

    def settle(self, row: StoredPart) -> None:
        """Finds out whether a part has arrived that was under way when a process died, or whose result is unknown."""
        self.looking.add(row.id)
        self._services.tasks.start(f"settle:{self._route.channel}:{self._route.chat}", self._settle(row, self._line))

    async def _settle(self, row: StoredPart, line: PartQueue) -> None:
        try:
            operation, now = decode(row.body), self._clock()
        except DecodeError as problem:
            if self._is_of_another(row):
                return log.warning("%s: part %s is left to other processes", self._channel.name, row.key)
            await self._bury(row, problem)
            return line.wake(rows=True)
        error = row.error or "the gateway ended while it was being sent"
        verdict = self._judge(Unknown(error), operation, row)
        try:
            match verdict:
                case LookUp():
                    await self._look(row, operation)
                case HoldBack():
                    await self._hold(row, operation, error)
                case Forget():
                    await self._forget(row, error)
                case _:
                    await self._keep(RetryPart(row, now, error, omitted=row.omitted))
                    self.looking.discard(row.id)
        except Superseded:  # another process has settled it
            self.looking.discard(row.id)
        line.wake(rows=True)

    async def _keep(self, *verbs: Verb[object]) -> tuple[object, ...]:
        """Stores what has already happened, however long the store takes to recover (DU-15)."""
        batch = WriteBatch(*verbs)
        await batch.insist(self._store)
        return batch.results


_POINTS: Final[dict[type, tuple[str, str]]] = {Open: ("K16", "K11"), React: ("K20", "K21"), Remove: ("K20", "K21")}
"""The crash points before the call and after it was accepted, for operations that are not messages."""
