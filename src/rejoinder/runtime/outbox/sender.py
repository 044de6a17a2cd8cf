"""The sender of one conversation: sends what is to be said there in order, one call at a time (DE-3, DE-30).

Rule 1: nothing is sent that is not committed, and nothing is sent again that may have arrived, unless the channel
        makes that harmless or the operator wants it (DU-3).
Rule 2: planning and claiming is one commit, the receipt another; only the channel call comes between them.
Rule 3: a caller may stop waiting: parts planned by then are sent anyway, the others are not.
Rule 4: words overtake reactions, in the store and before it (DE-32), because nothing depends on a reaction. Requests
        are planned in the order they were made, so an answer's reactions are planned before its end.
Rule 5: a task runs while there is something to do, and a timer if there will be later. Drafts come last: they are made
        when the line is free, from the newest text. This module is the line: it decides what goes next, and when.
        `delivery_attempt` makes each call.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import methodcaller
from typing import Final

from msgspec import Struct

from rejoinder.alarms import Alarm, call_at
from rejoinder.channels.base import Channel, LimitsFrameRate
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.events import Route
from rejoinder.outbound.budget import Rate
from rejoinder.outbound.operations import React
from rejoinder.outbound.plan import PlannedOperation
from rejoinder.runtime.abilities import can
from rejoinder.runtime.account_pace import AccountPace
from rejoinder.runtime.outbox.delivery_attempt import DeliveryAttempts
from rejoinder.runtime.outbox.delivery_failures import DeliveryFailures
from rejoinder.runtime.outbox.delivery_results import (
    WITHDRAWN,
    DeliveryResult,
    HandedOver,
    Unsent,
    result_of,
    settle,
    settle_all,
)
from rejoinder.runtime.outbox.draft_rotation import DraftRotation
from rejoinder.runtime.outbox.messages import MessageIndex
from rejoinder.runtime.outbox.pacing import ConversationPace
from rejoinder.runtime.outbox.part_results import PartResults
from rejoinder.runtime.outbox.performing import intent
from rejoinder.runtime.outbox.typing_calls import TypingCalls
from rejoinder.runtime.outbox.yielding_calls import YieldingCalls
from rejoinder.runtime.services import Services
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import ClaimPart, NotBefore, PlanParts, ResendPart, RunClaim, StoredPart

log = logging.getLogger(__name__)

STORE_PAUSE: Final = 1.0
_is_cancelled = methodcaller("cancelled")


class Request(Struct, frozen=True):
    planned: tuple[PlannedOperation, ...]
    run: RunClaim | None
    final: bool
    also: WriteBatch | None
    results: "tuple[asyncio.Future[DeliveryResult], ...]"
    yields: bool
    """Whether it holds only reactions, so that text posted later overtakes it."""


class ConversationSender:
    def __init__(
        self,
        route: Route,
        account: AccountPace,
        services: Services,
        failures: DeliveryFailures,
        index_at: Callable[[Route], MessageIndex | None] = lambda _: None,
    ) -> None:
        self.index_at = index_at
        """The message index of another place, for messages of ours that are there."""
        self.route = route
        self.channel = account.channel
        self.tell = services.hooks.tell
        self.check = services.lease.check
        """Called right before every call; raises `LeaseLost` if nothing may be sent any more (SC-3)."""
        self.messages = MessageIndex(services.store, route)
        """What was said here, kept up to date with what is sent."""
        self.writing = DraftRotation(account.channel.name)
        """The drafts of the agents that are writing here."""
        self.low_priority = YieldingCalls()
        """Makes the calls that yield to messages: frames and reactions."""
        self.typing_calls = TypingCalls()
        """The typing signs, which must not come after the message they announce."""
        self.pace = ConversationPace(account, route.chat, _frames(account.channel, route))
        self.pauses: dict[str, float] = {}
        """Seconds to pause after each of these parts, by key (DE-22)."""
        self.attempts = DeliveryAttempts(services, account, self, failures)
        """Makes the calls."""
        self._account = account
        self._gate = services.gate
        self._store = services.store
        self._tasks = services.tasks
        self._name = f"{route.channel}:{route.chat}"
        self._clock = services.clock
        self._requests: deque[Request] = deque()
        self._results = PartResults(route, services)
        self._rows = False  # the store may have other parts to send here
        self._told = 0  # counts the calls of `wake` that said so
        self._task: asyncio.Task[None] | None = None
        self._alarm: Alarm | None = None
        self._woken = False

    # --- requests -----------------------------------------------------------------------------------

    def post(
        self,
        planned: Sequence[PlannedOperation],
        run: RunClaim | None = None,
        *,
        final: bool = False,
        also: WriteBatch | None = None,
    ) -> "tuple[asyncio.Future[DeliveryResult], ...]":
        """Queues these operations, in order, after words that were posted before; each future gets the result of one of
        them.

        `also` is written in the commit that plans them.
        """
        new_future = asyncio.get_running_loop().create_future
        results = tuple([new_future() for _ in planned])
        # Closing a generator half way raises an exception in it, which costs more than a list.
        yields = all([type(each.operation) is React for each in planned])  # noqa: C419
        request = Request(tuple(planned), run, final, also, results, yields)
        self._requests.append(request)
        if not yields:
            self.low_priority.hurry()
            self.typing_calls.call_back()
        self.wake()
        return request.results

    def follow(self, row: StoredPart) -> "asyncio.Future[DeliveryResult]":
        """The result of a part that was planned earlier; it may have been settled since the row was read."""
        result: asyncio.Future[DeliveryResult] = asyncio.get_running_loop().create_future()
        if (known := self.attempts.arriving.get(row.key)) is not None:
            result.set_result(known)
            return result
        self._results.follow(row, result)
        self._tasks.start(f"follow:{self._name}", self._find(row))
        return result

    async def _find(self, row: StoredPart) -> None:
        try:
            if not await self._results.find(row):
                self.wake(rows=True)
        except StoreUnavailable:
            self._give_up()

    def hurry(self) -> None:
        """Ends the human pauses: the messages they were made for have been called off."""
        self.pauses.clear()
        self.pace.hurry()

    def wake(self, *, rows: bool = False) -> None:
        """Wakes the sender: there may be something to do. `rows`: the store may have parts that this sender did not
        plan."""
        if rows:
            self._rows = True
            self._told += 1
            self.low_priority.hurry()
            self.typing_calls.call_back()
        self._woken = True
        if self._alarm is not None:  # a running task sees what is due, and sets the next timer
            self._alarm.cancel()
            self._alarm = None
        if self._task is None:
            self._task = self._tasks.start(f"send:{self._name}", self._work())

    def wake_at(self, when: float) -> None:
        """Wakes the sender at this time of the loop's clock."""
        if self._task is not None:
            self._woken = True
        elif self._alarm is None or when < self._alarm.when:
            self._set_alarm(when)

    @property
    def is_speaking(self) -> bool:
        """Whether something is about to be sent, or is on its way."""
        return bool(self._requests or self._has_parts)

    @property
    def _has_parts(self) -> bool:
        """Whether the store may have something to send here."""
        return self._rows or bool(self._results.ours)

    @property
    def work(self) -> "asyncio.Task[None] | None":
        """The running task, if there is one."""
        return self._task

    # --- the line -----------------------------------------------------------------------------------

    async def _work(self) -> None:
        try:
            while self._woken:
                self._woken = False
                while await self._step():
                    pass
        except StoreUnavailable as fault:
            if fault.fault == "closed":
                self._give_up()
            else:
                self._wake_in(STORE_PAUSE)  # the store logs once why nothing can be written
        finally:
            self._task = None

    def _give_up(self) -> None:
        """The gateway ends and nothing can be stored any more, so the callers that wait for a result are released."""
        for result in chain.from_iterable([request.results for request in self._requests]):
            result.cancel()
        self._requests.clear()
        self._results.give_up()

    async def _step(self) -> bool:
        """Does one thing; returns whether there may be another."""
        if self._gate.is_shut:  # requests are still planned, and sent by the next process
            if self._requests:
                await self._plan(self._requests[0], claims=False)
            return bool(self._requests)
        if self._account.trouble and self.pace.has_room("final") and self.is_speaking:
            return await self._try_again()
        if self._requests:
            claims = self.pace.has_room("final") and not self._is_overtaken()
            with self.pace.reserved(claims):
                await self._plan(self._requests[0], claims=claims)
            return True
        if self._has_parts:
            if seconds := self.pace.seconds_to_wait("final"):
                self._wake_in(seconds)
                return False
            with self.pace.reserved():
                return await self._send_next()
        return await self._draft_next() if self.writing else False

    def _is_overtaken(self) -> bool:
        """Whether the first request is only reactions, and text behind it waits to be planned."""
        return self._requests[0].yields and any(not request.yields for request in self._requests)

    async def _try_again(self) -> bool:
        """While the account is refused, one single call finds out whether it is accepted again (DE-32)."""
        self._account.try_again()
        with self.pace.reserved():
            if self._requests and await self._plan(self._requests[0], claims=True):
                return True
            return await self._send_next()

    async def _draft_next(self, seconds: float | None = None) -> bool:
        """`seconds`: until the next part is to be sent; the line is free until then."""
        waits = self.pace.seconds_to_wait("edit") or await self.writing.work()
        if waits == 0.0:
            return True
        if times := [each for each in (waits, seconds) if each is not None]:
            self._wake_in(min(times))
        return False

    def _wake_in(self, seconds: float) -> None:
        self._set_alarm(asyncio.get_running_loop().time() + seconds)

    def _set_alarm(self, when: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = call_at(when, self.wake)

    async def _plan(self, request: Request, *, claims: bool) -> bool:
        """Commits a request. If nothing waits before its first part, the same commit claims that part, and it is sent.
        Returns whether it was."""
        if request.results and all(map(_is_cancelled, request.results)):
            self._requests.popleft()
            return False
        now = self._clock()
        intents = tuple([intent(each, self.route) for each in request.planned])
        batch = WriteBatch(PlanParts(intents, now, request.run, request.final, claims))
        if request.also is not None:
            batch.include(request.also)
        try:
            await batch.write(self._store)
        except StoreUnavailable:
            raise
        except Exception as error:  # a request that cannot be planned must not hold up those behind it
            self._requests.popleft()
            if not isinstance(error, Superseded):
                log.exception("%s: something could not be planned", self.channel.name)
            settle_all(request.results, WITHDRAWN if isinstance(error, Superseded) else Unsent(str(error)))
            return False
        self._requests.popleft()
        crashpoint("K15")
        rows: tuple[StoredPart, ...] = batch.results[0]
        for row, result in zip(rows, request.results, strict=True):
            if (known := result_of(row)) is not None:
                settle(result, known)
            elif row.elsewhere:  # the owner of that home sends it (SC-1)
                settle(result, HandedOver())
            else:
                self._results.planned(row, result)
        if not rows or rows[0].state != "sending" or rows[0].planned != now:
            return False
        await self.attempts.send(rows[0], request.planned[0].operation)
        return True

    async def _send_next(self) -> bool:
        told = self._told
        return await self._take(await self._store.write(ClaimPart(self.route, self._clock())), told)

    async def _take(self, claimed: StoredPart | NotBefore | None, told: int) -> bool:
        """`told`: the value of `_told` before the store was asked."""
        match claimed:
            case None if told != self._told:
                self._rows = True  # rows were announced after the store was asked
            case None:
                self._nothing_left()
            case NotBefore(at=at):
                self._rows = True
                return await self._draft_next(max(0.01, (at - self._clock()).total_seconds()))
            case StoredPart():
                await self.attempts.send(claimed)
        return True

    def _nothing_left(self) -> None:
        """The store has nothing to send here: parts that callers still wait for have been withdrawn (IN-70)."""
        self._rows = False
        self._results.ours.clear()
        if not self._requests:
            self.pauses.clear()
        if not self.attempts.looking:
            self._results.withdraw(HandedOver() if self.messages.facts.elsewhere else WITHDRAWN)

    # --- after a restart, and by hand ---------------------------------------------------------------

    def settle(self, row: StoredPart) -> None:
        """Finds out whether a part that was under way when a process died has arrived."""
        self.attempts.settle(row)

    async def resend(self, rows: Iterable[StoredPart]) -> int:
        """Sends held or dead parts once more, the same bytes under the same key; returns how many."""
        count = 0
        for row in rows:
            try:
                await self._store.write(ResendPart(row))
            except Superseded:
                continue
            count += 1
        self.wake(rows=True)
        return count

    # --- called by `delivery_attempt` -----------------------------------------------------------------------

    def has_more(self) -> None:
        self._rows = True

    def over(self, row: StoredPart, result: DeliveryResult) -> None:
        self.attempts.looking.discard(row.id)
        if seconds := self.pauses.pop(row.key, 0.0):
            self.pace.rest(seconds)
        self._results.settle(row.key, result)


def _frames(channel: Channel, route: Route) -> Rate | None:
    rate = channel.frame_rate(route) if can(channel, LimitsFrameRate) else None
    return None if rate is None else Rate(*rate)
