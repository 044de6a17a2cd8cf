"""Puts messages that wait in the store into the lanes of their sessions, after a restart and out of quarantine."""

import logging

from msgspec import MsgspecError
from msgspec.structs import replace

from rejoinder.events import Route
from rejoinder.runtime.outbox.conversations import Conversation, Conversations
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.payloads import message_of, unpack
from rejoinder.runtime.session.quarantine import Quarantine
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.turn_inputs import TurnInput
from rejoinder.store.base import Backlog, DropInputs, Input
from rejoinder.turns.modes import Mode

log = logging.getLogger(__name__)


class Backlogs:
    def __init__(
        self,
        services: Services,
        conversations: Conversations,
        sessions: Sessions,
        lanes: Lanes,
        queueing: Queueing,
        quarantine: Quarantine,
    ) -> None:
        self._store = services.store
        self._conversations = conversations
        self._sessions = sessions
        self._lanes = lanes
        self._queueing = queueing
        self._agents = services.agents
        self._is_shared = services.is_shared
        self._quarantine = quarantine
        self._clock = services.clock

    async def queue(self, backlog: Backlog) -> None:
        """Messages that wait for a thread yet to be opened were said in the chat, and are answered in the thread
        (CH-2)."""
        readable = replace(
            backlog, gathered=await self._readable(backlog.gathered), singly=await self._readable(backlog.singly)
        )
        for route in dict.fromkeys(map(_answered_at, (*readable.gathered, *readable.singly))):
            gathered, singly = (
                tuple(put for put in puts if _answered_at(put) == route)
                for puts in (readable.gathered, readable.singly)
            )
            await self._queue(Backlog(backlog.session, route, gathered, singly))

    async def _queue(self, backlog: Backlog) -> None:
        conversation = self._conversations.at(backlog.route)
        if conversation is None:
            log.warning("%s is no longer configured: its queued messages stay queued", backlog.route.channel)
            return
        gathered, singly = backlog.gathered, backlog.singly
        waiting = (*gathered, *singly)
        agent = unpack(waiting[0].payload).agent
        if agent not in self._agents and self._is_shared:
            log.warning(
                "%s: there is no agent %s here; its messages are left to other processes", backlog.session, agent
            )
            return
        if agent not in self._agents:
            events = tuple(put.event.id for put in waiting)
            await self._store.write(DropInputs(backlog.session, events, f"there is no agent {agent} any more"))
            return
        await conversation.open(self._clock())
        session = await self._sessions.find(backlog.session, agent, self._clock())
        queue = self._queueing.of(backlog.route.channel, session)
        said_at = (put.event.inbound.route for put in waiting)
        lane = self._lanes.lane(backlog.session, agent, queue, backlog.route, *said_at)
        left_out = [self.turn_input(put, conversation) for put in waiting if put.state == "summarised"]
        lane.remember(tuple(self._queueing.in_line(each.message, session) for each in left_out))
        old = [self.turn_input(put, conversation) for put in gathered if put.state == "waiting"]
        together = tuple(each for each in old if not each.message.compacts)
        if together:
            message = self._queueing.in_line(together[-1].message, session)
            by_itself = replace(queue, mode=Mode.FOLLOWUP, debounce_ms=0)
            lane.arrive(together, replace(message, id=f"gathered/{message.id}", settings=by_itself))
        chores = (each for each in old if each.message.compacts)
        alone = (self.turn_input(put, conversation) for put in singly if put.state == "waiting")
        for each in (*chores, *alone):
            lane.arrive((each,), self._queueing.in_line(each.message, session))

    async def _readable(self, inputs: tuple[Input, ...]) -> tuple[Input, ...]:
        """The inputs that can be read; the others are quarantined."""
        found: list[Input] = []
        for put in inputs:
            try:
                unpack(put.payload)
            except MsgspecError as problem:
                message, route = put.event.inbound.message_id, put.event.inbound.route
                if self._is_shared:
                    log.warning("%s: message %s is left to other processes: %s", put.session, message, problem)
                    continue
                await self._quarantine.put_unreadable_input(put.session, put.event.id, message, route, problem)
            else:
                found.append(put)
        return tuple(found)

    def turn_input(self, put: Input, conversation: Conversation) -> TurnInput:
        decided, inbound = unpack(put.payload), put.event.inbound
        message = message_of(decided, inbound)
        handle = conversation.messages.handle(inbound.message_id)
        return self._queueing.turn_input(put.event.id, message, decided.agent, conversation, decided.overheard, handle)


def _answered_at(put: Input) -> Route:
    return message_of(unpack(put.payload), put.event.inbound).route
