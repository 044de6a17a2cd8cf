"""After a claim: everything that was accepted in the shard is finished, in order and not all at once (SC-4, TU-10).

It is the same after a start, after kill -9 and when a shard moves from one process to another. Later `look` finds what
was written from outside the engine, by its state: a part to send again, a turn to run again, a message from the
operator, a stranger who is let in (DE-33, DU-2), and in a shared store what other processes have accepted.

Rule 1: everything is in its queue before a new message is taken, so none can overtake it.
Rule 2: no decision is made twice: what was routed goes on as it was decided.
Rule 3: an attempt is counted before it is made, and a crash makes suspects of all that was under way (DU-2). Turns that
        were under way in two crashes run one at a time (slots.py, `turns.suspicion`), events that were tried before are
        decided before any turn runs, one at a time. Only what was under way alone when the process died, and that three
        times, is quarantined. An orderly stop makes no suspects.
Rule 4: what is damaged, or was stored by another version in a format of its own, is quarantined (quarantine.py).
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from msgspec import MsgspecError

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable, Unreadable
from rejoinder.events import Step
from rejoinder.runtime.outbox.conversations import Conversation, Conversations
from rejoinder.runtime.outbox.offers import close_left_open
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.services import Services
from rejoinder.runtime.session import notices
from rejoinder.runtime.session.backlogs import Backlogs
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.payloads import message_of, unpack
from rejoinder.runtime.session.prefixes import Prefix, Prefixes
from rejoinder.runtime.session.quarantine import PLANNED_BEFORE, Quarantine
from rejoinder.runtime.session.questions import RESTARTED, Questions
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.readmission import Readmission
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.session.turn_inputs import Resumed, TurnInput
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import (
    EndRun,
    InboxEvent,
    Input,
    OpenTurn,
    ReleaseEvents,
    ResumeTurn,
    RunClaim,
    TryEvents,
    Verb,
    WithdrawParts,
)
from rejoinder.store.base import Recovery as Found
from rejoinder.turns.suspicion import MOST_ALONE, Again, again

log = logging.getLogger(__name__)

AT_ONCE = 200


class Recovery:
    def __init__(
        self,
        services: Services,
        conversations: Conversations,
        sessions: Sessions,
        lanes: Lanes,
        slots: Slots,
        queueing: Queueing,
        take: Callable[[InboxEvent], None],
        decide: Callable[[InboxEvent], asyncio.Task[None]],
        outbox: Outbox,
        quarantine: Quarantine,
        backlogs: Backlogs,
        prefixes: Prefixes,
        readmission: Readmission,
        over: asyncio.Event,
        access: Access,
        questions: Questions,
        is_taken: Callable[[InboxEvent], bool],
    ) -> None:
        self._store = services.store
        self._conversations = conversations
        self._sessions = sessions
        self._lanes = lanes
        self._slots = slots
        self._queueing = queueing
        self._runs = services.runs
        self._take = take
        self._decide_alone = decide
        self._agents = services.agents
        self._settings = services.settings
        self._clock = services.clock
        self._outbox = outbox
        self._quarantine = quarantine
        self._backlogs = backlogs
        self._prefixes = prefixes
        self._readmission = readmission
        self._access = access
        self._questions = questions
        self._resumed: set[int] = set()
        self._is_taken = is_taken
        self._tried: list[int] = []
        self._stopped = False
        self._looking: asyncio.Task[None] | None = None
        self._again = False
        self.over = over
        """The events that it goes on with itself."""

    async def run(self) -> None:
        """When this returns, everything is in its queue or under way."""
        found = await self._store.recover(self._clock())
        crashpoint("K25")
        await self._outbox.recover(found.unknown, found.to_send)
        await self._questions.recall()
        for unread in found.unread:
            await self._quarantine.put_unread(unread)
        events = tuple([event for event in found.events if self._can_be_decided(event)])
        if any(event.attempts for event in events):
            self._slots.hold()
        try:
            await self._put_in_line(found)
            asked = await self._questions.keep_of(self._resumed)
            await close_left_open(self._store, self._outbox, RESTARTED, asked)
            await self._decide(events)
        finally:
            self._slots.let_go()
        await self._readmission.look()
        self.over.set()
        if self._again:
            self.changed()

    def changed(self) -> None:
        """Something may have been written from outside. Returns at once; one look runs at a time, however often
        something changes, and none before the recovery is over."""
        self._access.forget()
        self._again = True
        if self.over.is_set() and (self._looking is None or self._looking.done()):
            self._looking = self._runs.start("look", self._look())

    async def _look(self) -> None:
        while self._again:
            self._again = False
            try:
                await self._readmission.look()
                routes = await self._store.to_send()
                events = await self._store.undecided()
            except StoreUnavailable:  # the store logs it; senders that go on afterwards ask what there is to send
                return
            for route in routes:
                self._outbox.wake(route)
            for event in events:
                if not self._is_taken(event) and self._conversations.has(event.inbound.channel):
                    self._take(event)

    async def _put_in_line(self, found: Found) -> None:
        for open in sorted(found.turns, key=_in_turn):
            try:
                await self._go_on(open)
            except (MsgspecError, Unreadable) as problem:
                turn, about = open.turn, open.inputs[-1].event.inbound.message_id
                await self._quarantine.put_unreadable_turn(
                    turn.session, turn.id, about, turn.route, problem, open.parts
                )
        for backlog in found.backlogs:
            try:
                await self._backlogs.queue(backlog)
            except Unreadable as problem:
                log.error("%s: what waits here goes on waiting: %s", backlog.session, problem)

    async def stop(self) -> None:
        """The gateway shuts down: takes back the attempts that were counted for undecided events."""
        self._stopped = True
        tried, self._tried = tuple(self._tried), []
        if tried:
            with suppress(StoreUnavailable):
                await self._store.write(ReleaseEvents(tried))

    # --- turns that were begun --------------------------------------------------------------------

    async def _go_on(self, open: OpenTurn) -> None:
        turn = open.turn
        conversation = self._conversations.at(turn.route)
        inputs = [put for put in open.inputs if put.state in ("taken", "steered")]
        if turn.state == "answered":
            await self._close(open, "answered", PLANNED_BEFORE)
        elif conversation is None or not inputs or (decided := unpack(inputs[0].payload)).agent not in self._agents:
            gone = "its channel or its agent is no longer configured"
            await self._close(open, "dropped", gone, *self._removal(open, conversation))
        elif (on_crash := self._settings.now.on_crash) != "rerun":
            if on_crash == "ask" and not decided.listening:
                about, prefix = inputs[-1].event.inbound.message_id, await self._prefix(inputs[-1])
                notice = notices.interrupted(conversation, about, self._clock(), open.parts, prefix)
            else:
                notice = notices.removed(conversation, self._clock(), open.parts)
            await self._close(open, "dropped", "a restart interrupted it", WithdrawParts(turn.id), notice)
            notices.wake((conversation,))
            notices.clear(conversation, open.parts)
        elif again(turn.crashes, turn.alone) is Again.NEVER:
            asked_for = [put.event.inbound for put in inputs]
            prefix = None if decided.listening else await self._prefix(inputs[-1])
            await self._quarantine.put_turn(turn, asked_for, open.parts, conversation, prefix)
        else:
            session = await self._sessions.find(turn.session, decided.agent, self._clock())
            await conversation.open(self._clock())
            asked = tuple(self._backlogs.asked(put, conversation) for put in inputs)
            in_line = tuple(self._queueing.in_line(each.message, session) for each in asked)
            queue = self._queueing.of(turn.route.channel, session)
            said_at = (each.message.inbound.stands_at for each in asked)
            lane = self._lanes.lane(turn.session, decided.agent, queue, turn.route, *said_at)
            self._resumed.add(turn.id)
            lane.resume(asked, in_line, Resumed(turn, open.parts, self._outbox.said(open.parts)))
            if lane.held_back:
                await self._held_back(turn.session, asked, lane.held_back)

    async def _held_back(self, session: str, asked: tuple[TurnInput, ...], why: str) -> None:
        log.warning("%s: %s", session, why)
        for each in asked:
            known = [step for traced in await self._store.trace(each.event) for step in traced.steps]
            each.conversation.trace(each.message.inbound.message_id, (*known, Step("lane", "waits", why)))

    def _removal(self, open: OpenTurn, conversation: Conversation | None) -> tuple[Verb[Any], ...]:
        """Nobody will go on with what this turn has begun to say."""
        if conversation is None:
            return ()
        notices.clear(conversation, open.parts)
        return WithdrawParts(open.turn.id), notices.removed(conversation, self._clock(), open.parts)

    async def _prefix(self, put: Input) -> Prefix:
        decided = unpack(put.payload)
        return await self._prefixes.of(message_of(decided, put.event.inbound), put.session, decided.agent)

    async def _close(
        self, open: OpenTurn, outcome: Literal["answered", "dropped"], detail: str, *also: Verb[Any]
    ) -> None:
        """Ends a turn without running it. The parts of an answered one are rows of their own and are still delivered.

        `also`: what is written with its end.
        """
        now = self._clock()
        claim = await self._store.write(ResumeTurn(open.turn.id))
        if isinstance(claim, RunClaim):
            await WriteBatch(EndRun(claim, outcome, now, detail), *also).write(self._store)

    # --- what was accepted and not decided --------------------------------------------------------

    def _can_be_decided(self, event: InboxEvent) -> bool:
        inbound = event.inbound
        if not self._conversations.has(inbound.channel):
            log.warning("%s is no longer configured: %s waits", inbound.channel, inbound.message_id)
            return False
        return True

    async def _decide(self, events: tuple[InboxEvent, ...]) -> None:
        if not any(event.attempts for event in events):
            for start in range(0, len(events), AT_ONCE):
                if self._stopped:
                    return
                await self._try(*events[start : start + AT_ONCE])
            for event in events:
                self._take(event)
            return
        await self._slots.tried.wait()
        for event in events:
            if self._stopped:
                return
            if event.alone >= MOST_ALONE:
                await self._quarantine.put_event(event)
            else:
                await self._try(event)
                await self._runs.wait(self._decide_alone(event))

    async def _try(self, *events: InboxEvent) -> None:
        ids = tuple(event.id for event in events)
        self._tried += ids
        await self._store.write(TryEvents(ids))


def _in_turn(open: OpenTurn) -> tuple[bool, int, int]:
    """Those come first beside which nothing may run. Of the suspects those that have the least against them come first:
    they end, and leave the others alone."""
    turn = open.turn
    when = again(turn.crashes, turn.alone)
    return when is not Again.FIRST, turn.alone, turn.crashes if when is not Again.AT_ONCE else 0
