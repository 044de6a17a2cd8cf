"""Routes an event to the agents that answer it: stores it for their sessions and puts it into their lanes.

Rule 1: a turn that starts at once begins in the same commit that routes its event (DU-12).
Rule 2: an event is routed once, to all its sessions in one commit. They stay locked until then, so that each is stored
        as this decision found it.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime

from msgspec import Struct

from rejoinder.inbound.activation import said_by
from rejoinder.inbound.message import InboundMessage
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.place.decision import Decision
from rejoinder.runtime.place.decision_recorder import DecisionRecord, DecisionRecorder
from rejoinder.runtime.place.transcript_inheritance import TranscriptInheritance
from rejoinder.runtime.place.turn_counts import TurnCounts
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.journal import TurnBeginning, begin_turn, give_back
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.payloads import pack
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.sessions import HeldSession, Sessions
from rejoinder.runtime.session.turn_inputs import GrantedTurn
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, session_key
from rejoinder.store.base import Busy, Destination, RouteEvent
from rejoinder.turns.backlog import QueuedMessage
from rejoinder.turns.modes import QueueSettings


class TurnPlace(Struct, frozen=True):
    """Where a message is answered, and where it was said. `heard`: how many messages of the answering place the agent
    will then have seen."""

    conversation: Conversation
    said_in: Conversation
    message: InboundMessage
    event: int
    heard: int
    now: datetime


class TurnDestination(Struct, frozen=True):
    """A session the message goes to: its new state, the message's place in the queue, and the turn if it starts now."""

    held: HeldSession
    session: Session
    queue: QueueSettings
    in_line: QueuedMessage
    granted: Callable[[], GrantedTurn | Busy] | None


class TurnRouting:
    def __init__(
        self,
        services: Services,
        sessions: Sessions,
        lanes: Lanes,
        queueing: Queueing,
        recorder: DecisionRecorder,
        turn_counts: TurnCounts,
    ) -> None:
        self._settings = services.settings
        self._store = services.store
        self._sessions = sessions
        self._lanes = lanes
        self._queueing = queueing
        self._recorder = recorder
        self._turn_counts = turn_counts
        self._inheritance = TranscriptInheritance(services, sessions)

    async def route(self, decision: Decision, held: HeldSession) -> None:
        message, session = decision.result.message, decision.result.session or held.session
        record = await self._recorder.begin(decision)
        sessions = {session.agent: (held, session)}
        if message.agents == (session.agent,):
            return await self._route_to(sessions, decision, record, held)
        async with AsyncExitStack() as stack:
            for agent in sorted({*message.agents} - {session.agent}):
                key = session_key(message.inbound, self._settings.now.rules.settings.session, agent)
                other = await stack.enter_async_context(self._sessions.changing(key, agent, decision.now))
                sessions[agent] = (other, other.session)
            await self._route_to(sessions, decision, record, held)

    async def _route_to(
        self,
        sessions: dict[str, tuple[HeldSession, Session]],
        decision: Decision,
        record: DecisionRecord,
        own: HeldSession,
    ) -> None:
        """`sessions`: by agent, all of them locked. `own`: the session of the decision, even if its agent does not
        answer."""
        result, conversation, event = decision.result, decision.conversation, decision.event
        message, session, batch = result.message, result.session or own.session, record.batch
        if session.agent not in message.agents:
            batch.add_all(own.put_verbs(session))
        there = decision.answered_in
        if there is conversation:
            heard, met = conversation.messages.count + 1 + len(decision.before), None
        else:  # the message that the thread hangs under is also its first message
            met = there.unknown_messages_to_index((said_by(message),), decision.now)
            heard = there.messages.count + (met is not None)
        rooted = batch.add(met) if met is not None else None
        place = TurnPlace(there, conversation, message, event.id, heard, decision.now)
        if message.inbound.thread is not None:
            for agent in message.agents:
                held, theirs = sessions[agent]
                sessions[agent] = held, await self._inheritance.claim(batch, theirs, message.inbound, decision.now)
        waiting: list[Destination] = []
        destined: list[TurnDestination] = []
        for agent in message.agents:
            destined.append(self._destination(batch, *sessions[agent], place, decision, waiting))
        batch.add_all((RouteEvent(event.id, tuple(waiting)),))
        if session.agent not in message.agents:
            batch.add_all(self._recorder.kept_start(own, session, conversation))
        for each in destined:
            batch.add_all(self._recorder.kept_start(each.held, each.session, there))
        await batch.write(self._store)
        self._recorder.settled(decision, record)
        if rooted is not None:
            there.add_to_index(rooted())
        if session.agent not in message.agents:
            self._recorder.keep(own, session, conversation)
        if not message.listening:
            self._turn_counts.add(event.inbound, decision.now)
        await self._enqueue(place, destined)
        if message.in_group and not message.stands_alone:  # in a room the others see it as history (IN-25)
            told = message.agents if there is conversation else ()  # in the chat itself none of them was told
            conversation.overheard.hear(said_by(message), (each for each in decision.members if each not in told))

    def _destination(
        self,
        batch: WriteBatch,
        held: HeldSession,
        session: Session,
        place: TurnPlace,
        decision: Decision,
        waiting: list[Destination],
    ) -> TurnDestination:
        """Adds the start of the turn to the batch if nothing is ahead of it; otherwise the message joins `waiting`."""
        message, agent, route = place.message, session.agent, place.conversation.route
        overheard = () if message.stands_alone else place.said_in.overheard.of(agent)
        payload = pack(message, agent, overheard, decision.event.inbound)
        queue = self._queueing.of(route.channel, session)
        in_line = self._queueing.in_line(message, session)
        start = self._lanes.start_of(held.key, agent, queue, in_line)
        if start is None:
            waiting.append(Destination(held.key, payload))
            batch.add_all(held.put_verbs(session))
            return TurnDestination(held, session, queue, in_line, None)
        beginning = TurnBeginning((place.event,), route, place.heard, place.now, message, payload)
        return TurnDestination(held, session, queue, in_line, begin_turn(batch, held, session, start, beginning))

    async def _enqueue(self, place: TurnPlace, destined: list[TurnDestination]) -> None:
        conversation, said_in, message = place.conversation, place.said_in, place.message
        handle = conversation.messages.handle(message.inbound.message_id)
        for each in destined:
            self._recorder.started(each.held, each.session, conversation)
            granted = each.granted() if each.granted is not None else None
            if granted is None:
                each.held.mark_stored(each.session)
            elif not isinstance(granted, GrantedTurn):  # the session is busy: the lane waits and tries again
                await give_back(each.held, each.session, self._store)
                granted = None
            agent, overheard = each.session.agent, ()
            if not message.stands_alone:
                overheard = said_in.overheard.of(agent)
                if said_in is conversation:
                    conversation.overheard.was_told(agent)
            turn_input = self._queueing.turn_input(place.event, message, agent, conversation, overheard, handle)
            self._lanes.arrive(each.held.key, agent, each.queue, turn_input, each.in_line, granted)
