"""One conversation's sender: what is to be said there goes out in order, one call at a time (DE-3, DE-30).

Rule 1: nothing is sent that is not committed, and nothing is sent again that may have arrived, unless the channel
        makes that harmless or the operator wants it (DU-3).
Rule 2: planning and claiming is one commit, the receipt another; between them is the channel call and nothing else.
Rule 3: whoever asked may go away: what has been planned is sent all the same. What has not been planned by then
        is not.
Rule 4: words overtake reactions, in the store and before it (DE-32): nothing hangs on a reaction. All is planned
        in the order in which it was asked for, so that the end of an answer has its reactions behind it.
Rule 5: a task runs while there is something to do, and a timer when that is later. Drafts come last: they are
        made when the line is free, from what is newest then.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from random import random
from typing import Any, Final

from msgspec import DecodeError, Struct
from msgspec.structs import replace

from rejoinder.channels.base import CanFind, Delivered, Outcome, RetryAfter, Unknown
from rejoinder.crashpoint import calling, crashpoint
from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.events import ReplySent, Route
from rejoinder.outbound.deeds import Deed, Open, React, Remove, Say, Sign, Words, decode, words
from rejoinder.outbound.plan import Planned
from rejoinder.runtime.abilities import can
from rejoinder.runtime.aside import Aside
from rejoinder.runtime.fates import WITHDRAWN, Fate, Sent, Unsent, fate_of, settle, settle_all
from rejoinder.runtime.hooks import Tell
from rejoinder.runtime.pacing import Account, Pace
from rejoinder.runtime.performing import form_of, intent, perform
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.unit import Unit
from rejoinder.runtime.verdict import Again, Arrived, Forget, GiveUp, Hold, Look, conceded_in, judge, remembered
from rejoinder.runtime.writing import Writing
from rejoinder.store.base import (
    BuryPart,
    ClaimPart,
    DropPart,
    ForgetMessage,
    HoldPart,
    Later,
    MarkSent,
    MarkUnknown,
    Message,
    PlanParts,
    ResendPart,
    RetryPart,
    Run,
    Store,
    StoredPart,
    Verb,
)

log = logging.getLogger(__name__)

LEASE: Final = timedelta(minutes=10)
STORE_PAUSE: Final = 1.0
LOOKS = 8
LOOK_PAUSE = 1.0
"""How often the platform is asked whether a part of unknown fate is there, and how many seconds longer each time:
over half a minute in all (DU-3)."""


class GivesUp(Struct, frozen=True):
    """What follows when a part is given up: to be done then, and to be written with it."""

    then: Callable[[], None]
    verbs: tuple[Verb[Any], ...] = ()


class Request(Struct, frozen=True):
    planned: tuple[Planned, ...]
    run: Run | None
    final: bool
    also: Unit | None
    fates: "tuple[asyncio.Future[Fate], ...]"
    yields: bool
    """Nothing but reactions: whatever is asked for later goes first."""


class Sender:
    def __init__(
        self,
        route: Route,
        account: Account,
        store: Store,
        runs: Runs,
        clock: Callable[[], datetime],
        tell: Tell,
        gives_up: Callable[[StoredPart, Deed, str], Awaitable[GivesUp]],
    ) -> None:
        self.route = route
        self.channel = account.channel
        self.noted: Callable[[Message], None] | None = None
        """Told of every message of ours that is in the index from then on."""
        self.forgotten: Callable[[str], None] | None = None
        """Told of every message that was taken back."""
        self.writing = Writing(account.channel.name)
        """The drafts of the agents that are writing here."""
        self.aside = Aside()
        """The call of less weight that is under way, if one is."""
        self.pace = Pace(account)
        self.pauses: dict[str, float] = {}
        """Seconds of quiet behind these parts, by their keys (DE-22)."""
        self._account = account
        self._store = store
        self._runs = runs
        self._name = f"{route.channel}:{route.chat}"
        self._clock = clock
        self._tell = tell
        self._gives_up = gives_up
        self._requests: deque[Request] = deque()
        self._following: dict[str, list[asyncio.Future[Fate]]] = {}
        self._finding: set[str] = set()  # keys of parts whose fate is being looked up
        self._arriving: dict[str, Sent] = {}  # those that were taken and whose receipt is not in the store yet
        self._ours: set[str] = set()  # keys of parts that are planned and not settled
        self._rows = False  # the store may have others to send here
        self._told = 0  # how often somebody said so
        self._looking: set[int] = set()  # parts of unknown fate; what is behind them waits
        self._looks = 0
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._woken = False

    # --- asked --------------------------------------------------------------------------------------

    def post(
        self,
        planned: Sequence[Planned],
        run: Run | None = None,
        *,
        final: bool = False,
        also: Unit | None = None,
    ) -> "tuple[asyncio.Future[Fate], ...]":
        """Has these said, in order, behind the words that were posted before; tells of each what became of it.

        `also` is written in the commit that plans them.
        """
        new_future = asyncio.get_running_loop().create_future
        fates, yields = tuple([new_future() for _ in planned]), all(isinstance(each.deed, React) for each in planned)
        request = Request(tuple(planned), run, final, also, fates, yields)
        self._requests.append(request)
        if not yields:
            self.aside.hurry()
        self.wake()
        return request.fates

    def follow(self, row: StoredPart) -> "asyncio.Future[Fate]":
        """What becomes of a part that somebody planned before, or has become of it since the row was read."""
        fate: asyncio.Future[Fate] = asyncio.get_running_loop().create_future()
        if (known := self._arriving.get(row.key)) is not None:
            fate.set_result(known)
            return fate
        self._following.setdefault(row.key, []).append(fate)
        self._finding.add(row.key)
        self._runs.start(f"follow:{self._name}", self._find_settled(row))
        return fate

    async def _find_settled(self, row: StoredPart) -> None:
        try:
            now = await self._store.part(row.id)
        finally:
            self._finding.discard(row.key)
        if (known := WITHDRAWN if now is None else fate_of(now)) is not None:
            settle_all(self._following.pop(row.key, ()), known)
        else:
            self.wake(rows=True)

    def hurry(self) -> None:
        """What was to be said with human pauses is not said any more: nobody waits for the end of one."""
        self.pauses.clear()
        self.pace.hurry()

    def wake(self, *, rows: bool = False) -> None:
        """There may be something to do. `rows`: somebody else has put it into the store."""
        if rows:
            self._rows = True
            self._told += 1
            self.aside.hurry()
        self._woken = True
        if self._task is None:
            self._task = self._runs.start(f"send:{self._name}", self._work())

    @property
    def is_speaking(self) -> bool:
        """Something is about to be said, or is on its way."""
        return bool(self._requests or self._ours or self._rows)

    @property
    def work(self) -> "asyncio.Task[None] | None":
        """What it is doing, if anything."""
        return self._task

    # --- the line -----------------------------------------------------------------------------------

    async def _work(self) -> None:
        try:
            while self._woken:
                self._woken = False
                while await self._step():
                    pass
        except StoreUnavailable as fault:
            if fault.fault != "closed":
                self._wake_in(STORE_PAUSE)  # the store says in the log, once, why nothing can be kept
        finally:
            self._task = None

    async def _step(self) -> bool:
        """One thing; whether there may be another."""
        if self._account.closed:  # what was asked for is kept, and sent by the next process
            if self._requests:
                await self._plan(self._requests[0], claims=False)
            return bool(self._requests)
        if self._account.trouble and self.pace.has_room("final") and (self._requests or self._rows or self._ours):
            return await self._try_again()
        if self._requests:
            await self._plan(self._requests[0], claims=self.pace.has_room("final") and not self._is_overtaken())
            return True
        if self._rows or self._ours:
            if seconds := self.pace.seconds_to_wait("final"):
                self._wake_in(seconds)
                return False
            return await self._send_next()
        return await self._draft_next() if self.writing else False

    def _is_overtaken(self) -> bool:
        """By words that wait behind it, and are about to be planned."""
        return self._requests[0].yields and any(not request.yields for request in self._requests)

    async def _try_again(self) -> bool:
        """Of a refused account one call alone finds out whether it is over (DE-32)."""
        self._account.try_again()
        if self._requests and await self._plan(self._requests[0], claims=True):
            return True
        return await self._send_next()

    async def _draft_next(self) -> bool:
        if seconds := self.pace.seconds_to_wait("edit"):
            self._wake_in(seconds)
            return False
        if seconds := await self.writing.work():
            self._wake_in(seconds)
        return seconds == 0.0

    def _wake_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.wake)

    async def _plan(self, request: Request, *, claims: bool) -> bool:
        """Commits what is to be said, and with it the claim on its first part, where nothing waits before that.
        Whether it was sent."""
        if request.fates and all(fate.cancelled() for fate in request.fates):
            self._requests.popleft()
            return False
        now = self._clock()
        intents = tuple([intent(each, self.route) for each in request.planned])
        unit = Unit()
        lease_until = now + LEASE if claims else None
        planned = unit.add(PlanParts(intents, now, request.run, request.final, lease_until))
        if request.also is not None:
            unit.include(request.also)
        try:
            await unit.write(self._store)
        except StoreUnavailable:
            raise
        except Exception as error:  # one that cannot be planned must not hold up those behind it
            self._requests.popleft()
            if not isinstance(error, Superseded):
                log.exception("%s: something could not be planned", self.channel.name)
            settle_all(request.fates, WITHDRAWN if isinstance(error, Superseded) else Unsent(str(error)))
            return False
        self._requests.popleft()
        crashpoint("K15")
        rows = planned()
        for row, fate in zip(rows, request.fates, strict=True):
            if (known := fate_of(row)) is not None:
                settle(fate, known)
            else:
                self._ours.add(row.key)
                self._following.setdefault(row.key, []).append(fate)
        if not rows or rows[0].state != "sending" or rows[0].planned != now:
            return False
        await self._send(rows[0])
        return True

    async def _send_next(self) -> bool:
        told, now = self._told, self._clock()
        return await self._take(await self._store.write(ClaimPart(self.route, now, now + LEASE)), told)

    async def _take(self, claimed: StoredPart | Later | None, told: int) -> bool:
        """`told`: how often somebody had said that there is something when the store was asked."""
        match claimed:
            case None if told != self._told:
                self._rows = True  # the answer is older than what was said meanwhile
            case None:
                self._nothing_left()
            case Later(at=at):
                self._wake_in(max(0.01, (at - self._clock()).total_seconds()))
                self._rows = True
                return False
            case StoredPart():
                await self._send(claimed)
        return True

    def _nothing_left(self) -> None:
        """The store has nothing to send here: what somebody still waits for has been withdrawn (IN-70)."""
        self._rows = False
        self._ours.clear()
        if not self._requests:
            self.pauses.clear()
        if not self._looking:
            for key in self._following.keys() - self._finding:  # what is being looked up may have been sent
                settle_all(self._following.pop(key), WITHDRAWN)

    # --- one part -----------------------------------------------------------------------------------

    async def _send(self, row: StoredPart) -> None:
        try:
            deed = decode(row.body)
        except DecodeError as error:
            return await self._bury(row, error)
        conceded = conceded_in(row.error)
        crashpoint("K20" if isinstance(deed, Sign) else "K16")
        try:
            self.pace.spend()
            with calling(_ACCEPTED.get(type(deed), "K17")):
                call = perform(deed, row, self.channel, self.route, conceded, self._store)
                outcome = await (self.aside.make(call) if isinstance(deed, React) else call)
        except Exception as error:  # a channel may be anybody's code
            log.exception("%s failed at a part", self.channel.name)
            outcome = Unknown(f"{type(error).__name__}: {error}")
        try:
            await self._conclude(row, deed, outcome, conceded)
        except Superseded as lost:  # the call took longer than the claim: whoever took it over settles it
            log.warning("%s: %s", self.channel.name, lost)
        crashpoint("K19")

    async def _bury(self, row: StoredPart, error: DecodeError) -> None:
        """One of another version, or damaged: it must not hold up what follows."""
        log.error("%s: part %s cannot be read: %s", self.channel.name, row.key, error)
        await self._keep(BuryPart(row, f"it cannot be read: {error}"))
        self._over(row, Unsent("it cannot be read"))

    async def _conclude(self, row: StoredPart, deed: Deed, outcome: Outcome, conceded: frozenset[str]) -> None:
        verdict = judge(
            outcome,
            deed,
            self.channel,
            tries=row.attempts,
            conceded=conceded,
            on_unknown=self._account.on_unknown,
            jitter=random(),
        )
        now = self._clock()
        match verdict:
            case Arrived(message=message):
                self._works_again()
                crashpoint("K12" if isinstance(deed, Open) else "K18")
                await self._arrived(row, deed, message, now)
            case Again():
                await self._later(row, verdict, conceded, now)
            case Look(error=error):
                await self._keep(MarkUnknown(row, error))
                await self._look(replace(row, state="unknown", error=error), deed)
            case Hold(error=error):
                unknown = replace(row, state="unknown")
                await self._keep(MarkUnknown(row, error), HoldPart(unknown))
                self._over(row, Unsent(error, held=True))
                log.warning("%s: it is not known whether %s arrived: %s", self.channel.name, row.key, error)
            case Forget(error=error):
                unknown = replace(row, state="unknown")
                await self._keep(MarkUnknown(row, error), HoldPart(unknown), DropPart(replace(row, state="held")))
                self._over(row, Unsent(error))
            case GiveUp(error=error):
                known = await self._gives_up(row, deed, error)
                await self._keep(BuryPart(row, error), *known.verbs)
                self._over(row, Unsent(error))
                known.then()

    async def _arrived(self, row: StoredPart, deed: Deed, message: str, now: datetime) -> None:
        said = words(deed)
        receipt, author = (message, deed.part.author) if isinstance(deed, Words) else (None, "")
        marked = MarkSent(row, receipt, now, said, author)
        # Who waits goes on now: what they write comes behind this, mostly in the same commit.
        sent = self._arriving[row.key] = Sent(message)
        self._over(row, sent)
        also = (ForgetMessage(self.route, deed.message),) if isinstance(deed, Remove) else ()
        try:
            known, *_ = await self._keep(marked, *also)
        finally:
            del self._arriving[row.key]
        if isinstance(deed, Remove) and self.forgotten is not None:
            self.forgotten(deed.message)
        if isinstance(known, Message) and self.noted is not None:
            self.noted(known)
        self._looks = 0
        if isinstance(deed, Words) and not isinstance(deed, Open):
            self._tell(ReplySent(self.route, message, said, row.turn))

    async def _later(self, row: StoredPart, verdict: Again, conceded: frozenset[str], now: datetime) -> None:
        error = remembered(verdict.error, verdict.concedes, conceded)
        if verdict.refused:
            was, seconds = self._account.trouble, self._account.refuse(verdict.error)
            if not was:
                refused = "%s: nothing is sent, what is to be said is kept: %s; tried again in %.0f s, then each minute"
                log.error(refused, self.channel.name, verdict.error, seconds)
        elif verdict.concedes is not None:
            log.warning("%s refused a %s: %s", self.channel.name, verdict.concedes, verdict.error)
        elif verdict.everywhere:
            waits = "%s: nothing is sent for %.0f s: %s; what is to be said is kept"
            log.warning(waits, self.channel.name, verdict.seconds, verdict.error)
        elif verdict.seconds:
            log.info("%s: again in %.1f s: %s", self.channel.name, verdict.seconds, verdict.error)
        await self._keep(RetryPart(row, now + timedelta(seconds=verdict.seconds), error, verdict.counted))
        if not verdict.counted:
            self.pace.pause(verdict.seconds, everywhere=verdict.everywhere)
        self._rows = True

    def _works_again(self) -> None:
        if self._account.trouble:
            log.warning("%s: the platform takes our messages again", self.channel.name)
            self._account.accept()

    async def _look(self, row: StoredPart, deed: Deed) -> None:
        """Asks the platform whether it is there; until that can be told nothing else is said here."""
        channel, now = self.channel, self._clock()
        self._looking.add(row.id)
        outcome: Outcome = Unknown("it cannot be looked up")
        if can(channel, CanFind) and isinstance(deed, Say | Open):
            outcome = await channel.find(form_of(deed.part, None, conceded_in(row.error)))
        match outcome:
            case Delivered(message=message):
                await self._arrived(row, deed, message, now)
            case RetryAfter(limited=False):
                await self._keep(RetryPart(row, now, row.error))
                self._looking.discard(row.id)
                self._rows = True
            case _:
                self._looks += 1
                if self._looks < LOOKS:
                    asyncio.get_running_loop().call_later(self._looks * LOOK_PAUSE, self.settle, row)
                elif self._account.on_unknown == "resend":
                    await self._keep(ResendPart(row))
                    self._looking.discard(row.id)
                    self._rows = True
                else:
                    await self._keep(HoldPart(row))
                    self._over(row, Unsent(row.error, held=True))

    # --- after a restart, and by hand ---------------------------------------------------------------

    def settle(self, row: StoredPart) -> None:
        """Finds out about a part that was under way when a process died, or that could not be told yet."""
        self._looking.add(row.id)
        self._runs.start(f"settle:{self._name}", self._settle(row))

    async def _settle(self, row: StoredPart) -> None:
        try:
            deed, now = decode(row.body), self._clock()
        except DecodeError as problem:
            await self._bury(row, problem)
            return self.wake(rows=True)
        error = row.error or "the gateway ended while it was being sent"
        conceded, how = conceded_in(row.error), self._account.on_unknown
        verdict = judge(Unknown(error), deed, self.channel, tries=row.attempts, conceded=conceded, on_unknown=how)
        try:
            match verdict:
                case Look():
                    await self._look(row, deed)
                case Hold():
                    await self._keep(HoldPart(row))
                    self._over(row, Unsent(error, held=True))
                    log.warning("%s: it is not known whether %s arrived: %s", self.channel.name, row.key, error)
                case Forget():
                    await self._keep(HoldPart(row), DropPart(replace(row, state="held")))
                    self._over(row, Unsent(error))
                case _:
                    await self._keep(RetryPart(row, now, remembered(error, None, conceded)))
                    self._looking.discard(row.id)
        except Superseded:  # somebody settled it
            self._looking.discard(row.id)
        self.wake(rows=True)

    async def resend(self, rows: Iterable[StoredPart]) -> int:
        """Sends held or dead parts once more, the same bytes under the same key; how many."""
        count = 0
        for row in rows:
            try:
                await self._store.write(ResendPart(row))
            except Superseded:
                continue
            count += 1
        self.wake(rows=True)
        return count

    async def _keep(self, *verbs: Verb[object]) -> tuple[object, ...]:
        """Writes what has happened already, however long the store takes to be good again (DU-15)."""
        unit = Unit(*verbs)
        await unit.insist(self._store)
        return unit.results

    def _over(self, row: StoredPart, fate: Fate) -> None:
        self._ours.discard(row.key)
        self._looking.discard(row.id)
        if seconds := self.pauses.pop(row.key, 0.0):
            self.pace.rest(seconds)
        settle_all(self._following.pop(row.key, ()), fate)


_ACCEPTED: Final[dict[type, str]] = {Open: "K11", React: "K21", Remove: "K21"}
