"""The line through the house: inbox -> stages -> lane, effects and answers.

Messages of one place are decided one after the other, in the order in which they came; who accepts them
waits for none of it. A decision is one commit, with the beginning of its turn where that begins at once: before
it nothing has happened, after it the message has its end or its place in a lane (DU-12).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from time import perf_counter

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.agents.base import Agent
from rejoinder.channels.base import Channel
from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.events import (
    Inbound,
    MessageDecided,
    MessageReceived,
    Overhear,
    SessionStarted,
    StageDecision,
)
from rejoinder.inbound import BEFORE_SESSION, resume
from rejoinder.inbound.activation import said_by
from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.debounce import joined
from rejoinder.inbound.finalise import arrived
from rejoinder.inbound.message import Message as Decided
from rejoinder.inbound.outcome import Answer, Continue, Walk, walk
from rejoinder.inbound.rooms import members, whose_message
from rejoinder.inbound.rules import channel_rules
from rejoinder.runtime.access import Access
from rejoinder.runtime.asked import Granted
from rejoinder.runtime.background import Background, Nowhere, message_of
from rejoinder.runtime.beside import Beside
from rejoinder.runtime.books import StoreBooks, begin_turn
from rejoinder.runtime.conversations import OVERHEARD, Conversation, Conversations
from rejoinder.runtime.debounce import Debounce
from rejoinder.runtime.effects import Effects, Performed
from rejoinder.runtime.facts import World
from rejoinder.runtime.handoff import HandedRow
from rejoinder.runtime.hooks import Hooks
from rejoinder.runtime.inheriting import Inheritance
from rejoinder.runtime.lanes import Lanes
from rejoinder.runtime.outbox import Outbox
from rejoinder.runtime.owners import Owners
from rejoinder.runtime.precedence import Arrival, Precedence
from rejoinder.runtime.questions import Questions
from rejoinder.runtime.queueing import Queueing
from rejoinder.runtime.recovery import Recovery
from rejoinder.runtime.relay import Watcher
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.sessions import Held, Sessions
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.slots import Slots
from rejoinder.runtime.tally import Tally
from rejoinder.runtime.unit import Unit, until_good
from rejoinder.runtime.upkeep import Upkeep
from rejoinder.runtime.waiting import pack
from rejoinder.runtime.work import Workers
from rejoinder.session import Session, session_key
from rejoinder.store.base import (
    Accept,
    Cursor,
    Destination,
    InboxEvent,
    Message,
    RouteEvent,
    SettleEvent,
    Store,
    Trace,
    TraceLine,
    said_about,
)
from rejoinder.turns.backlog import Message as InLine
from rejoinder.turns.modes import QueueSettings

log = logging.getLogger(__name__)


NOBODY = Watcher()
DECIDED_AGAIN = 3


def utc_now() -> datetime:
    return datetime.now(UTC)


class Decision(Struct, frozen=True):
    """What was decided about an event, and where."""

    event: InboxEvent
    before: tuple[InboxEvent, ...]
    """What its sender typed just before it: decided with it, as one message."""
    conversation: Conversation
    agent: str
    members: tuple[str, ...]
    """Our agents that are here: one, or those of a room."""
    now: datetime
    walk: Walk
    bot_turns: BotTurns
    """Those of the place, this message among them."""
    ours: bool
    """One of the members said it."""


class Place(Struct, frozen=True):
    """Where a message of a turn was said. `heard`: how much of what was said there its agent has been told then."""

    conversation: Conversation
    message: Decided
    event: int
    heard: int
    now: datetime


class Destined(Struct, frozen=True):
    """A session the message goes to: as it is then, its place in the line, and its turn where that begins at once."""

    held: Held
    session: Session
    queue: QueueSettings
    in_line: InLine
    granted: Callable[[], Granted] | None


class Engine:
    def __init__(
        self,
        agents: Mapping[str, Agent],
        channels: Mapping[str, Channel],
        runs: Runs,
        settings: RuntimeSettings,
        store: Store,
        clock: Callable[[], datetime] = utc_now,
        watcher: Watcher = NOBODY,
        hooks: Hooks | None = None,
    ) -> None:
        self._settings = settings
        self._runs = runs
        self._clock = clock
        self._store = store
        self._tally = Tally(store)
        self._sessions = Sessions(store)
        self._precedence = Precedence()
        self._inheritance = Inheritance(settings.rules.settings.session, self._sessions, store)
        self._hooks = hooks = hooks or Hooks()
        self._tell = hooks.tell
        self.nowhere = Nowhere()
        self._queueing = Queueing(settings, runs)
        places = {**channels, self.nowhere.name: self.nowhere}
        self.outbox = Outbox(places, store, runs, settings.channel, clock, self._tell)
        self.conversations = Conversations(places, store, self.outbox, settings.channel)
        self._owners = Owners(self.conversations, channels, store, clock)
        self.outbox.owed = self._owners.owed
        questions, access = Questions(runs, settings.question_seconds, store.generation), Access(settings.rules, store)
        workers = Workers(
            agents, self._sessions, store, settings, runs, questions, clock, watcher, self._tell, self._hand_over
        )
        self.books = StoreBooks(store, self._sessions, clock)
        self.lanes = Lanes(workers, self.books, runs, Slots(settings.limits, runs, agents), settings.lease)
        self._effects = Effects(agents, self.lanes, questions, access, settings.show_config, self._tell)
        self.upkeep = Upkeep(store, self.lanes, self.books, clock)
        self.beside = Beside(store, self.outbox, access, runs)
        self.recovery = Recovery(
            store,
            self.conversations,
            self._sessions,
            self.lanes,
            self._queueing,
            runs,
            self.take,
            self.decide,
            agents,
            settings.on_crash,
            clock,
            self.outbox,
        )
        self._world = World(settings, self.lanes, workers, access, self._tally, store)
        self._debounce = Debounce(settings.rules, runs, clock, self.decide)

    async def accept(self, *messages: Inbound, cursor: Cursor | None = None) -> None:
        """What a channel calls; returns when they are safe, not when they are answered (DU-1).

        They are decided meanwhile, so that the decision is mostly in the same commit.
        """
        taken: list[InboxEvent] = []

        def take(events: tuple[InboxEvent, ...]) -> None:
            taken.extend(event for event in events if not self._debounce.waits(event.inbound.channel))
            for event in taken:
                self.decide(event)

        try:
            events = await self._store.write(Accept(messages, self._clock(), cursor), known=take)
        except Exception:
            for event in taken:  # the platform delivers it again
                self._forget(event)
            raise
        for event in events:
            self._tell(MessageReceived(event.inbound))
            if event not in taken:
                self.take(event)

    def _forget(self, event: InboxEvent) -> None:
        waiting = self.conversations.of(event.inbound).arrived
        for arrival in [arrival for arrival in waiting if arrival.events == (event,)]:
            waiting.remove(arrival)
            self._precedence.give_back(arrival.ticket)

    def take(self, event: InboxEvent) -> None:
        """Goes on with an event that is safe: at once, or with the rest of what its sender is typing (IN-76)."""
        if self._debounce.waits(event.inbound.channel):
            self._debounce.take(event, self._world.me(self.conversations.of(event.inbound)))
        else:
            self.decide(event)

    def decide(self, *group: InboxEvent) -> asyncio.Task[None]:
        """What somebody typed in one go is decided as one message, after those of its place that came before it."""
        inbound, rules = group[-1].inbound, self._settings.rules
        conversation, here = self.conversations.of(inbound), members(inbound, channel_rules(rules, inbound.channel))
        keys = [session_key(inbound, rules.settings.session, agent) for agent in here]
        conversation.arrived.append(Arrival(group, self._precedence.ticket(keys)))
        if conversation.deciding is None or conversation.deciding.done():
            where = f"{inbound.channel}:{inbound.chat.id}"
            conversation.deciding = self._runs.start(f"decide:{where}", self._decide_in_order(conversation))
        return conversation.deciding

    async def _decide_in_order(self, conversation: Conversation) -> None:
        again = 0
        while conversation.arrived:
            arrival = conversation.arrived[0]
            try:
                await self._decide(arrival, conversation)
            except StoreUnavailable as fault:
                try:
                    await until_good(self._store, fault)
                except StoreUnavailable:
                    self._precedence.give_back(arrival.ticket)  # the gateway ends: those behind it are told so too
                    raise
                continue
            except Superseded as lost:  # somebody beside the gateway has changed what it was decided by
                log.info("%s; it is decided again", lost)
                if (again := again + 1) < DECIDED_AGAIN:
                    continue
            except Exception as error:  # one message must not hold up those behind it
                log.exception("a message of %s could not be decided", conversation.channel.name)
                failed = f"failed: {type(error).__name__}"
                with suppress(Superseded):  # it was decided, and failed later
                    await Unit(*(SettleEvent(event.id, failed) for event in arrival.events)).insist(self._store)
            self._precedence.give_back(arrival.ticket)
            if conversation.arrived and conversation.arrived[0] is arrival:
                conversation.arrived.popleft()
            again = 0

    async def _decide(self, arrival: Arrival, conversation: Conversation) -> None:
        now, rules, group = self._clock(), self._settings.rules, arrival.events
        inbound, event, before = joined(tuple(event.inbound for event in group)), group[-1], group[:-1]
        channel = channel_rules(rules, inbound.channel)
        here, keys, ours = members(inbound, channel), arrival.ticket.keys, self._world.is_member(inbound)
        await conversation.open(now)
        agent = whose_message(inbound, channel, await conversation.author_answered(inbound))
        key = keys[here.index(agent)]
        for each, its_key in zip(here, keys, strict=True):
            await conversation.recall(each, its_key)
        await self.lanes.ended(key)
        turns = await conversation.counting(inbound, now, ours=ours)
        facts = await self._world.facts(inbound, conversation, turns, key, agent, now, ours=ours)
        message = arrived(inbound, facts)
        decided = walk(BEFORE_SESSION, message, None, rules, now, perf_counter)
        decision = Decision(event, before, conversation, agent, here, now, decided, turns, ours)
        if not isinstance(decided.outcome, Continue):
            return await self._settle(decision, None)
        await arrival.ticket.turn()
        async with self._sessions.changing(key, agent, now) as held:
            decided = resume(decided, held.session, rules, now, perf_counter)
            decision = replace(decision, walk=decided)
            if isinstance(decided.outcome, Continue):
                await self._route(decision, held)
            elif (work := self._effects.as_turn(decided, agent)) is not None:
                await self._route(replace(decision, walk=work), held)
            else:
                await self._settle(decision, held)

    # --- an event that gets no turn ---------------------------------------------------------------

    async def _settle(self, decision: Decision, held: Held | None) -> None:
        walked, conversation, event = decision.walk, decision.conversation, decision.event
        performed = await self._perform(decision)
        unit, noted = self._unit(decision, performed)
        unit.add_all((SettleEvent(event.id, _reason(walked)),))
        session = None if held is None or walked.session == held.session else walked.session
        if held is not None and session is not None:
            unit.add_all(held.becomes(session))
        await unit.write(self._store)
        self._settled(decision, performed, noted())
        if held is not None and session is not None:
            self._keep(held, session, conversation)
            self.lanes.obey(held.key, self._queueing.of(conversation.route.channel, session))

    # --- an event that gets one, of each agent it wakes -------------------------------------------

    async def _route(self, decision: Decision, held: Held) -> None:
        message, session = decision.walk.message, decision.walk.session or held.session
        performed = await self._perform(decision)
        sessions = {session.agent: (held, session)}
        others = {*message.agents} - {session.agent}
        if not others:
            return await self._route_to(sessions, decision, performed, held)
        async with AsyncExitStack() as stack:
            for agent in sorted(others):
                key = session_key(decision.event.inbound, self._settings.rules.settings.session, agent)
                other = await stack.enter_async_context(self._sessions.changing(key, agent, decision.now))
                sessions[agent] = (other, other.session)
            await self._route_to(sessions, decision, performed, held)

    async def _route_to(
        self, sessions: dict[str, tuple[Held, Session]], decision: Decision, performed: list[Performed], own: Held
    ) -> None:
        """`sessions` by agent, all of them held; `own` is the one it was decided by, woken or not."""
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
        heard = conversation.messages.count + 1 + len(decision.before)
        place = Place(conversation, message, event.id, heard, decision.now)
        if event.inbound.thread is not None:
            for agent in message.agents:
                held, theirs = sessions[agent]
                sessions[agent] = held, await self._inheritance.claim(unit, theirs, event.inbound, decision.now)
        destined = [self._destine(unit, *sessions[agent], place) for agent in message.agents]
        await unit.write(self._store)
        self._settled(decision, performed, noted())
        if session.agent not in message.agents:
            self._keep(own, session, conversation)
        if not message.listening:
            self._tally.add(event.inbound, decision.now)
        self._enqueue(place, destined)
        if message.in_group and not message.stands_alone:  # in a room the others see it as history (IN-25)
            conversation.hear(said_by(message), (each for each in decision.members if each not in message.agents))

    def _destine(self, unit: Unit, held: Held, session: Session, place: Place) -> Destined:
        """Adds to the unit what this session needs: the beginning of its turn, if nothing is before it."""
        route = place.conversation.route
        queue = self._queueing.of(route.channel, session)
        in_line = self._queueing.in_line(place.message, session)
        start = self.lanes.start_of(held.key, session.agent, queue, in_line)
        if start is None:
            unit.add_all(held.becomes(session))
            return Destined(held, session, queue, in_line, None)
        granted = begin_turn(unit, held, session, start, (place.event,), route, place.heard, place.now, place.message)
        return Destined(held, session, queue, in_line, granted)

    def _enqueue(self, place: Place, destined: list[Destined]) -> None:
        conversation, message = place.conversation, place.message
        handle = conversation.messages.handle(message.inbound.message_id)
        for each in destined:
            self._started(each.held, each.session, conversation)
            granted = each.granted() if each.granted is not None else None
            if granted is None:
                each.held.became(each.session)
            key, agent = each.held.key, each.session.agent
            overheard = () if message.stands_alone else conversation.overheard(agent)
            asked = self._queueing.asked(place.event, message, agent, conversation, overheard, handle)
            if not message.stands_alone:
                conversation.was_told(agent)
            self.lanes.arrive(key, agent, each.queue, (asked,), each.in_line, granted)

    # --- a turn that nobody asked for -------------------------------------------------------------

    async def begin(self, turn: Background) -> None:
        """It waits in its session's lane like everybody, and is a row like everybody's message (TU-28)."""
        conversation = self.conversations.at(turn.target) if turn.target is not None else None
        if turn.target is not None and conversation is None:
            log.warning("%s: there is no channel %s to tell", turn.session, turn.target.channel)
        conversation = conversation or self.conversations.at(self.nowhere.route(turn.session))
        assert conversation is not None, "nowhere is always there"
        now, message = self._clock(), message_of(turn, conversation.route)
        for event in await self._store.write(Accept((message.inbound,), now)):
            await conversation.open(now)
            async with self._sessions.changing(turn.session, turn.agent, now) as held:
                payload = pack(message, turn.agent, (), event.inbound)
                unit = Unit(RouteEvent(event.id, (Destination(held.key, payload),)))
                place = Place(conversation, message, event.id, conversation.messages.count, now)
                destined = self._destine(unit, held, held.session, place)
                await unit.write(self._store)
                self._enqueue(place, [destined])

    def _hand_over(self, inbound: Inbound, is_left: Callable[[], bool]) -> HandedRow:
        return HandedRow(inbound, self._clock(), self._store, self._runs, self.decide, is_left)

    # --- what every decision comes to -------------------------------------------------------------

    async def _perform(self, decision: Decision) -> list[Performed]:
        return [
            await self._effects.perform(effect, decision.conversation, decision.agent, decision.members, decision.now)
            for effect in decision.walk.effects
        ]

    def _unit(self, decision: Decision, performed: list[Performed]) -> tuple[Unit, Callable[[], tuple[Message, ...]]]:
        unit, walked = Unit(), decision.walk
        now, readable = decision.now, walked.message.refusal is None
        inbounds = [event.inbound for event in (*decision.before, decision.event)]
        noted = unit.add(decision.conversation.to_note(inbounds, now, readable=readable, ours=decision.ours))
        for event in decision.before:
            joined = f"joined to {decision.event.inbound.message_id}"
            unit.add_all((SettleEvent(event.id, joined), Trace(event.id, (TraceLine(now, "debounce", joined),))))
        lines = [TraceLine(now, step.stage, step.decision, step.reason, step.took) for step in walked.trace]
        unit.add_all((Trace(decision.event.id, tuple(lines)),))
        for each in performed:
            unit.add_all(each.verbs)
        if replies := _replies(decision, performed):
            unit.add_all((decision.conversation.to_say(replies, now, stem=said_about(decision.event.id)),))
        if _is_owners(decision):
            unit.add_all(self._owners.to_keep(decision.conversation.route))
        return unit, noted

    def _settled(self, decision: Decision, performed: list[Performed], noted: tuple[Message, ...]) -> None:
        """It is written: from now on it is so."""
        conversation = decision.conversation
        conversation.noted(noted)
        conversation.bot_turns = decision.bot_turns
        conversation.trace(decision.event.inbound.message_id, decision.walk.trace)
        if self._hooks.wants(MessageDecided):
            self._tell(_event_of(decision))
        if _is_owners(decision):
            self._owners.wrote(conversation.route)
        for each in performed:
            each.then()
        if _replies(decision, performed):
            conversation.sender.wake(rows=True)

    def _keep(self, held: Held, session: Session, conversation: Conversation) -> None:
        self._started(held, session, conversation)
        held.became(session)

    def _started(self, held: Held, session: Session, conversation: Conversation) -> None:
        """A session that was only just made begins when there is something to remember: a choice, or a turn."""
        if held.is_new:
            self._tell(SessionStarted(session.key, session.agent, conversation.route))


def _is_owners(decision: Decision) -> bool:
    """An owner said it, where nobody else reads."""
    message = decision.walk.message
    return message.actor.role == "owner" and not message.in_group


def _replies(decision: Decision, performed: list[Performed]) -> Sequence[str]:
    """What an effect answered itself stands in the place of the decision's own replies."""
    return [each.says for each in performed if each.says is not None] or decision.walk.replies


def _reason(walked: Walk) -> str:
    """How an event ends that gets no turn."""
    outcome = walked.outcome
    if any(isinstance(effect, Overhear) for effect in walked.effects):
        how = OVERHEARD
    else:
        how = "answered" if isinstance(outcome, Answer) else "dropped"
    return f"{how}: {outcome.reason}" if outcome.reason else how


def _event_of(decision: Decision) -> MessageDecided:
    """What hooks hear of it."""
    match decision.walk.outcome:
        case Continue():
            outcome = "turn"
        case Answer():
            outcome = "answer"
        case _:
            outcome = "drop"
    stages = (StageDecision(step.stage, step.decision, step.reason, step.took) for step in decision.walk.trace)
    return MessageDecided(decision.event.inbound, outcome, tuple(stages))
