"""After a restart: everything that was accepted is finished, in order and not all at once (DU-13, TU-10).

Rule 1: everything is in its queue before a channel is opened, so no new message can overtake it.
Rule 2: no decision is made twice: what was routed goes on as it was decided.
Rule 3: an attempt is counted before it is made. An event that has been tried before is tried alone, so that the one
        that kills the process is identified and no other is given up for it (DU-2). An orderly stop is not held
        against the events it leaves undecided: their attempts are not counted.
Rule 4: what is damaged, or was stored by another version in a format of its own, is put aside alone (put_aside.py).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

from msgspec import MsgspecError
from msgspec.structs import replace

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable, Unreadable
from rejoinder.runtime.deciding.queueing import Queueing
from rejoinder.runtime.deciding.waiting import message_of, unpack
from rejoinder.runtime.lanes.books import note_put_aside
from rejoinder.runtime.lanes.lanes import Lanes
from rejoinder.runtime.lanes.sessions import Sessions
from rejoinder.runtime.lanes.turn_inputs import Asked, Resumed
from rejoinder.runtime.put_aside import PLANNED_BEFORE, Shelf
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.sending import notices
from rejoinder.runtime.sending.conversations import Conversation, Conversations
from rejoinder.runtime.sending.offers import close_left_open
from rejoinder.runtime.sending.outbox import Outbox
from rejoinder.runtime.settings import OnCrash
from rejoinder.runtime.turn.questions import RESTARTED
from rejoinder.runtime.unit import Unit
from rejoinder.store.base import (
    MOST_ATTEMPTS,
    Backlog,
    DropInputs,
    EndRun,
    InboxEvent,
    Input,
    OpenTurn,
    ReleaseEvents,
    ResumeTurn,
    Run,
    Store,
    TryEvents,
    Verb,
    WithdrawParts,
)
from rejoinder.turns.modes import Mode

log = logging.getLogger(__name__)

AT_ONCE = 200


class Recovery:
    def __init__(
        self,
        store: Store,
        conversations: Conversations,
        sessions: Sessions,
        lanes: Lanes,
        queueing: Queueing,
        runs: Runs,
        take: Callable[[InboxEvent], None],
        decide: Callable[[InboxEvent], asyncio.Task[None]],
        agents: Iterable[str],
        on_crash: OnCrash,
        clock: Callable[[], datetime],
        outbox: Outbox,
    ) -> None:
        self._store = store
        self._conversations = conversations
        self._sessions = sessions
        self._lanes = lanes
        self._queueing = queueing
        self._runs = runs
        self._take = take
        self._decide_alone = decide
        self._agents = frozenset(agents)
        self._on_crash: OnCrash = on_crash
        self._clock = clock
        self._outbox = outbox
        self._shelf = Shelf(store, conversations, clock)
        self._tried: list[int] = []
        self._stopped = False
        self.over = asyncio.Event()

    async def run(self) -> None:
        """When this returns, everything is in its queue or under way."""
        found = await self._store.recover(self._clock())
        crashpoint("K25")
        self._outbox.recover(found.unknown, found.to_send)
        await close_left_open(self._store, self._outbox, RESTARTED)
        for unread in found.unread:
            await self._shelf.put(unread)
        for open in found.turns:
            try:
                await self._go_on(open)
            except (MsgspecError, Unreadable) as problem:
                turn, about = open.turn, open.inputs[-1].event.inbound.message_id
                await self._shelf.put_turn(turn.session, turn.id, about, turn.route, problem, open.parts)
        for backlog in found.backlogs:
            try:
                await self._queue(backlog)
            except Unreadable as problem:
                log.error("%s: what waits here goes on waiting: %s", backlog.session, problem)
        await self._decide(tuple([event for event in found.events if self._can_be_decided(event)]))
        self.over.set()

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
            await self._close(open, "dropped", "its channel or its agent is no longer configured")
        elif self._on_crash != "rerun":
            about, told = inputs[-1].event.inbound.message_id, self._on_crash == "ask" and not decided.listening
            notice = notices.interrupted(conversation, about, self._clock(), open.parts, told=told)
            await self._close(open, "dropped", "a restart interrupted it", WithdrawParts(turn.id), notice)
            notices.wake((conversation,))
        else:
            session = await self._sessions.find(turn.session, decided.agent, self._clock())
            await conversation.open(self._clock())
            asked = tuple(self._asked(put, conversation) for put in inputs)
            in_line = tuple(self._queueing.in_line(each.message, session) for each in asked)
            queue = self._queueing.of(turn.route.channel, session)
            lane = self._lanes.lane(turn.session, decided.agent, queue, turn.route)
            lane.resume(asked, in_line, Resumed(turn, open.parts, self._outbox.said(open.parts)))

    async def _close(
        self, open: OpenTurn, outcome: Literal["answered", "dropped"], detail: str, *also: Verb[Any]
    ) -> None:
        """Ends a turn without running it. The parts of an answered one are rows of their own and are still delivered.

        `also`: what is written with its end.
        """
        now = self._clock()
        claim = await self._store.write(ResumeTurn(open.turn.id, now, now))
        if isinstance(claim, Run):
            await Unit(EndRun(claim, outcome, now, detail), *also).write(self._store)

    # --- what waited for a turn -------------------------------------------------------------------

    async def _queue(self, backlog: Backlog) -> None:
        conversation = self._conversations.at(backlog.route)
        if conversation is None:
            log.warning("%s is no longer configured: what waits there goes on waiting", backlog.route.channel)
            return
        gathered = await self._readable(backlog.gathered)
        singly = await self._readable(backlog.singly)
        waiting = (*gathered, *singly)
        if not waiting:
            return
        agent = unpack(waiting[0].payload).agent
        if agent not in self._agents:
            events = tuple(put.event.id for put in waiting)
            await self._store.write(DropInputs(backlog.session, events, f"there is no agent {agent} any more"))
            return
        await conversation.open(self._clock())
        session = await self._sessions.find(backlog.session, agent, self._clock())
        queue = self._queueing.of(backlog.route.channel, session)
        lane = self._lanes.lane(backlog.session, agent, queue, backlog.route)
        left_out = [self._asked(put, conversation) for put in waiting if put.state == "summarised"]
        lane.remember(tuple(self._queueing.in_line(each.message, session) for each in left_out))
        old = [self._asked(put, conversation) for put in gathered if put.state == "waiting"]
        together = tuple(asked for asked in old if not asked.message.compacts)
        if together:
            message = self._queueing.in_line(together[-1].message, session)
            by_itself = replace(queue, mode=Mode.FOLLOWUP, debounce_ms=0)
            lane.arrive(together, replace(message, id=f"gathered/{message.id}", settings=by_itself))
        chores = (asked for asked in old if asked.message.compacts)
        alone = (self._asked(put, conversation) for put in singly if put.state == "waiting")
        for asked in (*chores, *alone):
            lane.arrive((asked,), self._queueing.in_line(asked.message, session))

    async def _readable(self, inputs: tuple[Input, ...]) -> tuple[Input, ...]:
        """The inputs that can be read; the others are put aside."""
        found: list[Input] = []
        for put in inputs:
            try:
                unpack(put.payload)
            except MsgspecError as problem:
                message = put.event.inbound.message_id
                await self._shelf.put_input(put.session, put.event.id, message, put.event.inbound.route, problem)
            else:
                found.append(put)
        return tuple(found)

    def _asked(self, put: Input, conversation: Conversation) -> Asked:
        decided, inbound = unpack(put.payload), put.event.inbound
        handle = conversation.messages.handle(inbound.message_id)
        message = message_of(decided, inbound)
        return self._queueing.asked(put.event.id, message, decided.agent, conversation, decided.overheard, handle)

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
        for event in events:
            if self._stopped:
                return
            if event.attempts >= MOST_ATTEMPTS - 1:
                await self._put_aside(event)
            else:
                await self._try(event)
                await self._runs.wait(self._decide_alone(event))

    async def _try(self, *events: InboxEvent) -> None:
        ids = tuple(event.id for event in events)
        self._tried += ids
        await self._store.write(TryEvents(ids))

    async def _put_aside(self, event: InboxEvent) -> None:
        inbound = event.inbound
        conversation = self._conversations.of(inbound)
        notice = notices.put_aside(conversation, inbound.message_id, self._clock())
        await self._store.write(TryEvents((event.id,), most=MOST_ATTEMPTS - 1), notice)
        log.error(
            "message %s of %s was put aside after %d attempts", inbound.message_id, inbound.channel, MOST_ATTEMPTS
        )
        notices.wake((conversation,))
        self._runs.start("put aside", note_put_aside(conversation, inbound.message_id))
