"""What a decision leads to: one commit that stores it, with the start of its turn if that is immediate (DU-12).

Before that commit nothing has happened. After it the message is settled or has its place in a lane, and hooks and
replies follow.
"""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.base import AnswersPresses
from rejoinder.events import MessageDecided, Overhear, ReplyContext, SessionStarted, Step
from rejoinder.inbound.activation import said_by
from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Answer, Continue, Drop, Walk
from rejoinder.runtime.abilities import can
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.owners import OwnerChats
from rejoinder.runtime.place.effects import Asking, Effects, Performed
from rejoinder.runtime.place.inheriting import Inheritance
from rejoinder.runtime.place.turn_counts import TurnCounts
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.journal import begin_turn, give_back
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.payloads import pack
from rejoinder.runtime.session.prefixes import Prefix, prefix_of
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.sessions import HeldSession, Sessions
from rejoinder.runtime.session.turn_inputs import Granted
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, session_key
from rejoinder.store.base import (
    Busy,
    Destination,
    InboxEvent,
    IndexedMessage,
    KeepHookEvents,
    RouteEvent,
    SettleEvent,
    Trace,
    said_about,
)
from rejoinder.turns.backlog import QueuedMessage as InLine
from rejoinder.turns.modes import QueueSettings

NOT_YOURS = "Nothing was done: you may not do this here."


class Decision(Struct, frozen=True):
    """What was decided about an event, and where."""

    event: InboxEvent
    before: tuple[InboxEvent, ...]
    """What its sender typed just before it, decided together with it as one message."""
    conversation: Conversation
    """Where it was said."""
    answered_in: Conversation
    """Where its turn is answered: another one if the answer opens a thread (CH-2)."""
    agent: str
    members: tuple[str, ...]
    """Our agents in this conversation: one, or those of a room."""
    now: datetime
    walk: Walk
    bot_turns: BotTurns
    """Those of the place, this message included."""
    ours: bool
    """One of the members said it."""


class TurnPlace(Struct, frozen=True):
    """Where a message of a turn is answered, and where it was said. `heard`: how many messages of the former its agent
    will then have been told."""

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
    in_line: InLine
    granted: Callable[[], Granted | Busy] | None


class Consequences:
    def __init__(
        self,
        services: Services,
        sessions: Sessions,
        lanes: Lanes,
        queueing: Queueing,
        effects: Effects,
        owners: OwnerChats,
        turn_counts: TurnCounts,
    ) -> None:
        self._settings = services.settings
        self._store = services.store
        self._sessions = sessions
        self._lanes = lanes
        self._queueing = queueing
        self._effects = effects
        self._owners = owners
        self._turn_counts = turn_counts
        self._hooks = services.hooks
        self._runs = services.runs
        self._inheritance = Inheritance(services, sessions)

    async def of(self, decision: Decision, held: HeldSession) -> None:
        """For a decision made with its session in hand."""
        if isinstance(decision.walk.outcome, Continue):
            await self.route(decision, held)
        elif (work := self._effects.as_turn(decision.walk, decision.agent)) is not None:
            await self.route(replace(decision, walk=work), held)
        else:
            await self.settle(decision, held)

    # --- an event that gets no turn ---------------------------------------------------------------

    async def settle(self, decision: Decision, held: HeldSession | None) -> None:
        walked, conversation, event = decision.walk, decision.conversation, decision.event
        performed = await self._perform(decision)
        unit, noted = self._unit(decision, performed)
        overheard = any(isinstance(effect, Overhear) for effect in walked.effects)
        unit.add_all((SettleEvent(event.id, _reason(walked, overheard=overheard), overheard),))
        session = None if held is None or walked.session == held.session else walked.session
        if held is not None and session is not None:
            unit.add_all(held.becomes(session))
            unit.add_all(self._kept_start(held, session, conversation))
        await unit.write(self._store)
        self._settled(decision, performed, noted())
        if held is not None and session is not None:
            self._keep(held, session, conversation)
            self._lanes.obey(held.key, self._queueing.of(conversation.route.channel, session))

    # --- an event that gets a turn of each agent it wakes -----------------------------------------

    async def route(self, decision: Decision, held: HeldSession) -> None:
        message, session = decision.walk.message, decision.walk.session or held.session
        performed = await self._perform(decision)
        sessions = {session.agent: (held, session)}
        others = {*message.agents} - {session.agent}
        if not others:
            return await self._route_to(sessions, decision, performed, held)
        async with AsyncExitStack() as stack:
            for agent in sorted(others):
                key = session_key(message.inbound, self._settings.now.rules.settings.session, agent)
                other = await stack.enter_async_context(self._sessions.changing(key, agent, decision.now))
                sessions[agent] = (other, other.session)
            await self._route_to(sessions, decision, performed, held)

    async def _route_to(
        self,
        sessions: dict[str, tuple[HeldSession, Session]],
        decision: Decision,
        performed: list[Performed],
        own: HeldSession,
    ) -> None:
        """`sessions` by agent, all of them held; `own` is the session the decision was made for, woken or not."""
        walked, conversation, event = decision.walk, decision.conversation, decision.event
        message, session = walked.message, walked.session or own.session
        unit, noted = self._unit(decision, performed)
        if session.agent not in message.agents:
            unit.add_all(own.becomes(session))
        payloads = [
            Destination(sessions[agent][0].key, pack(message, agent, overheard, event.inbound))
            for agent in message.agents
            for overheard in [() if message.stands_alone else conversation.overheard(agent)]
        ]
        unit.add_all((RouteEvent(event.id, tuple(payloads)),))
        there = decision.answered_in
        if there is conversation:
            heard, met = conversation.messages.count + 1 + len(decision.before), None
        else:  # the message its thread hangs under is the first of the thread too
            met = there.to_meet((said_by(message),), decision.now)
            heard = there.messages.count + (met is not None)
        rooted = unit.add(met) if met is not None else None
        place = TurnPlace(there, conversation, message, event.id, heard, decision.now)
        if message.inbound.thread is not None:
            for agent in message.agents:
                held, theirs = sessions[agent]
                sessions[agent] = held, await self._inheritance.claim(unit, theirs, message.inbound, decision.now)
        destined = [self._destination(unit, *sessions[agent], place) for agent in message.agents]
        if session.agent not in message.agents:
            unit.add_all(self._kept_start(own, session, conversation))
        for each in destined:
            unit.add_all(self._kept_start(each.held, each.session, place.conversation))
        await unit.write(self._store)
        self._settled(decision, performed, noted())
        if rooted is not None:
            there.noted(rooted())
        if session.agent not in message.agents:
            self._keep(own, session, conversation)
        if not message.listening:
            self._turn_counts.add(event.inbound, decision.now)
        await self._enqueue(place, destined)
        if message.in_group and not message.stands_alone:  # in a room the others see it as history (IN-25)
            told = message.agents if there is conversation else ()  # in the chat itself none of them was told
            conversation.hear(said_by(message), (each for each in decision.members if each not in told))

    def _destination(self, unit: WriteBatch, held: HeldSession, session: Session, place: TurnPlace) -> TurnDestination:
        """Adds to the unit what this session needs, including the start of its turn if nothing is ahead of it."""
        route = place.conversation.route
        queue = self._queueing.of(route.channel, session)
        in_line = self._queueing.in_line(place.message, session)
        start = self._lanes.start_of(held.key, session.agent, queue, in_line)
        if start is None:
            unit.add_all(held.becomes(session))
            return TurnDestination(held, session, queue, in_line, None)
        granted = begin_turn(unit, held, session, start, (place.event,), route, place.heard, place.now, place.message)
        return TurnDestination(held, session, queue, in_line, granted)

    async def _enqueue(self, place: TurnPlace, destined: list[TurnDestination]) -> None:
        conversation, said_in, message = place.conversation, place.said_in, place.message
        handle = conversation.messages.handle(message.inbound.message_id)
        for each in destined:
            self._started(each.held, each.session, conversation)
            granted = each.granted() if each.granted is not None else None
            if granted is None:
                each.held.became(each.session)
            elif isinstance(granted, Busy):  # the lane asks again, and waits
                await give_back(each.held, each.session, self._store)
                granted = None
            key, agent = each.held.key, each.session.agent
            overheard = () if message.stands_alone else said_in.overheard(agent)
            asked = self._queueing.asked(place.event, message, agent, conversation, overheard, handle)
            if not message.stands_alone and said_in is conversation:
                conversation.was_told(agent)
            self._lanes.arrive(key, agent, each.queue, (asked,), each.in_line, granted)

    # --- what every decision leads to -------------------------------------------------------------

    async def _perform(self, decision: Decision) -> list[Performed]:
        return [await self._effects.perform(effect, _asking(decision)) for effect in decision.walk.effects]

    def _unit(
        self, decision: Decision, performed: list[Performed]
    ) -> tuple[WriteBatch, Callable[[], tuple[IndexedMessage, ...]]]:
        unit, walked = WriteBatch(), decision.walk
        now, readable = decision.now, walked.message.refusal is None
        inbounds = [event.inbound for event in (*decision.before, decision.event)]
        noted = unit.add(decision.conversation.to_note(inbounds, now, readable=readable, ours=decision.ours))
        for event in decision.before:
            joined = f"joined to {decision.event.inbound.message_id}"
            unit.add_all((SettleEvent(event.id, joined), Trace(event.id, now, (Step("debounce", joined),))))
        unit.add_all((Trace(decision.event.id, now, walked.trace),))
        for each in performed:
            unit.add_all(each.verbs)
        if replies := _replies(decision, performed):
            said = map(self._prefix(decision), replies)
            context, only_for = decision.event.inbound.reply_context, self._only_for(decision)
            stem = said_about(decision.event.id)
            unit.add_all((decision.conversation.to_say(said, now, stem=stem, context=context, only_for=only_for),))
        if _is_owners(decision):
            unit.add_all(self._owners.to_keep(decision.conversation.route))
        return unit, noted

    def _only_for(self, decision: Decision) -> str | None:
        """The person who alone is answered: they pressed a button, or chose a command whose answer is theirs (CH-9)."""
        inbound = decision.event.inbound
        context = inbound.reply_context
        if context is None or not context.private or inbound.chat.kind == "direct":
            return None
        named = inbound.invoked.name.lower() if inbound.invoked is not None else ""
        command = self._settings.now.rules.commands.get(named)
        return inbound.sender.id if inbound.entry == "button" or command is None or command.private else None

    def _prefix(self, decision: Decision) -> Prefix:
        """A message that was answered before its session was looked up is answered as in a new one."""
        session = decision.walk.session or Session("", decision.agent, decision.now, decision.now)
        return prefix_of(decision.walk.message, session, self._settings.now)

    def _settled(self, decision: Decision, performed: list[Performed], noted: tuple[IndexedMessage, ...]) -> None:
        """Makes the decision effective, after its commit."""
        conversation = decision.conversation
        conversation.noted(noted)
        conversation.bot_turns = decision.bot_turns
        conversation.trace(decision.event.inbound.message_id, decision.walk.trace)
        if self._hooks.wants(MessageDecided):
            self._hooks.tell(_event_of(decision))
        if _is_owners(decision):
            self._owners.wrote(conversation.route)
        for each in performed:
            each.then()
        if _replies(decision, performed):
            conversation.sender.wake(rows=True)
        elif decision.event.inbound.entry == "button" and decision.event.inbound.reply_context is not None:
            self._notice_press(conversation, decision.event.inbound.reply_context)

    def _notice_press(self, conversation: Conversation, context: ReplyContext) -> None:
        """A button was pressed and dealt with; there is nothing to say to the person (CH-10)."""
        channel = conversation.channel
        if can(channel, AnswersPresses):
            self._runs.start("press", channel.press_noticed(context))

    def _keep(self, held: HeldSession, session: Session, conversation: Conversation) -> None:
        self._started(held, session, conversation)
        held.became(session)

    def _started(self, held: HeldSession, session: Session, conversation: Conversation) -> None:
        """A new session starts with the first thing it has to remember: a choice, or a turn."""
        if held.is_new:
            self._hooks.tell(_start(session, conversation), kept=True)

    def _kept_start(
        self, held: HeldSession, session: Session, conversation: Conversation
    ) -> tuple[KeepHookEvents, ...]:
        return self._hooks.kept(_start(session, conversation)) if held.is_new else ()


def _start(session: Session, conversation: Conversation) -> SessionStarted:
    return SessionStarted(session.key, session.agent, conversation.route, session.started)


def _asking(decision: Decision) -> Asking:
    walked, here = decision.walk, decision.conversation
    who = (here, decision.agent, decision.members, decision.now)
    return Asking(decision.event, walked.message, walked.session, *who)


def _is_owners(decision: Decision) -> bool:
    """An owner said it, in a direct chat."""
    message = decision.walk.message
    return message.actor.role == "owner" and not message.in_group


def _replies(decision: Decision, performed: list[Performed]) -> Sequence[str]:
    """What the effects say replaces the decision's own replies."""
    said = [each.says for each in performed if each.says is not None] or decision.walk.replies
    inbound = decision.event.inbound
    if said or not isinstance(decision.walk.outcome, Drop) or inbound.entry not in ("native", "button"):
        return said
    # The platform shows the person that something is under way until they get an answer; nobody else sees it.
    alone = inbound.reply_context is not None and inbound.reply_context.private
    return (NOT_YOURS,) if alone and inbound.chat.kind != "direct" else ()


def _reason(walked: Walk, *, overheard: bool) -> str:
    """The recorded end of an event that gets no turn, for people."""
    outcome = walked.outcome
    how = "overheard" if overheard else "answered" if isinstance(outcome, Answer) else "dropped"
    return f"{how}: {outcome.reason}" if outcome.reason else how


def _event_of(decision: Decision) -> MessageDecided:
    """What hooks are told of it."""
    match decision.walk.outcome:
        case Continue():
            outcome = "turn"
        case Answer():
            outcome = "answer"
        case _:
            outcome = "drop"
    return MessageDecided(decision.event.inbound, outcome, decision.walk.trace)
