"""The line through the house: inbox -> stages -> lane, effects and answers.

Messages of one place are decided one after the other, in the order in which they came; who accepts them
waits for none of it. A decision is one commit, with the beginning of its turn where that begins at once: before
it nothing has happened, after it the message has its end or its place in a lane (DU-12).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from time import perf_counter

from msgspec import Struct

from rejoinder.agents.base import Agent
from rejoinder.channels.base import Channel
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.events import Inbound, MessageReceived, Overhear, SessionStarted
from rejoinder.inbound import BEFORE_SESSION, resume
from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.finalise import arrived
from rejoinder.inbound.outcome import Answer, Continue, Walk, walk
from rejoinder.inbound.rules import channel_rules
from rejoinder.runtime.access import Access
from rejoinder.runtime.asked import Granted
from rejoinder.runtime.books import StoreBooks, begin_turn
from rejoinder.runtime.conversations import OVERHEARD, Conversation, Conversations
from rejoinder.runtime.effects import Effects, Performed
from rejoinder.runtime.facts import World
from rejoinder.runtime.hooks import Hooks
from rejoinder.runtime.lanes import Lanes
from rejoinder.runtime.outbox import Outbox
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
    conversation: Conversation
    agent: str
    now: datetime
    walk: Walk
    bot_turns: BotTurns
    """Those of the place, this message among them."""


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
        self._tell = (hooks or Hooks()).tell
        self._queueing = Queueing(settings, runs)
        self.outbox = Outbox(channels, store, runs, settings.channel, clock, self._tell)
        self.conversations = Conversations(channels, store, self.outbox, settings.channel)
        questions, access = Questions(runs, settings.question_seconds), Access(settings.rules, store)
        workers = Workers(agents, self._sessions, store, settings, runs, questions, clock, watcher, self._tell)
        self.books = StoreBooks(store, self._sessions, clock)
        self.lanes = Lanes(workers, self.books, runs, Slots(settings.limits), settings.lease)
        self._effects = Effects(agents, self.lanes, questions, access, settings.show_config, self._tell)
        self.upkeep = Upkeep(store, self.lanes, self.books, clock)
        self.recovery = Recovery(
            store,
            self.conversations,
            self._sessions,
            self.lanes,
            self._queueing,
            runs,
            self.take,
            agents,
            settings.on_crash,
            clock,
            self.outbox,
        )
        self._world = World(settings, self.lanes, workers, access, self._tally, store)

    async def accept(self, *messages: Inbound, cursor: Cursor | None = None) -> None:
        """What a channel calls; returns when they are safe, not when they are answered (DU-1)."""
        for event in await self._store.write(Accept(messages, self._clock(), cursor)):
            self._tell(MessageReceived(event.inbound))
            self.take(event)

    def take(self, event: InboxEvent) -> asyncio.Task[None]:
        """Decides about an event that is safe, after those of its place that came before it."""
        conversation = self.conversations.of(event.inbound)
        conversation.arrived.append(event)
        if conversation.deciding is None or conversation.deciding.done():
            where = f"{event.inbound.channel}:{event.inbound.chat.id}"
            conversation.deciding = self._runs.start(f"decide:{where}", self._decide_in_order(conversation))
        return conversation.deciding

    async def _decide_in_order(self, conversation: Conversation) -> None:
        crashpoint("K5")
        again = 0
        while conversation.arrived:
            event = conversation.arrived[0]
            try:
                await self._decide(event, conversation)
            except StoreUnavailable as fault:
                await until_good(self._store, fault)
                continue
            except Superseded as lost:  # somebody beside the gateway has changed what it was decided by
                log.info("%s; it is decided again", lost)
                if (again := again + 1) < DECIDED_AGAIN:
                    continue
            except Exception as error:  # one message must not hold up those behind it
                log.exception("a message of %s could not be decided", conversation.channel.name)
                with suppress(Superseded):  # it was decided, and failed later
                    await Unit(SettleEvent(event.id, f"failed: {type(error).__name__}")).insist(self._store)
            conversation.arrived.popleft()
            again = 0

    async def _decide(self, event: InboxEvent, conversation: Conversation) -> None:
        now, rules, inbound = self._clock(), self._settings.rules, event.inbound
        agent = channel_rules(rules, inbound.channel).agent.name
        key = session_key(inbound, rules.settings.session, agent)
        await conversation.open(key, now)
        await self.lanes.ended(key)
        turns = conversation.counting(inbound, now.date())
        message = arrived(inbound, await self._world.facts(inbound, conversation, turns, key, agent, now))
        decided = walk(BEFORE_SESSION, message, None, rules, now, perf_counter)
        if not isinstance(decided.outcome, Continue):
            return await self._settle(Decision(event, conversation, agent, now, decided, turns), None)
        async with self._sessions.changing(key, agent, now) as held:
            decided = resume(decided, held.session, rules, now, perf_counter)
            decision = Decision(event, conversation, agent, now, decided, turns)
            if isinstance(decided.outcome, Continue):
                await self._route(decision, held)
            else:
                await self._settle(decision, held)

    # --- an event that gets no turn ---------------------------------------------------------------

    async def _settle(self, decision: Decision, held: Held | None) -> None:
        walked, conversation, event = decision.walk, decision.conversation, decision.event
        performed = await self._perform(decision)
        unit, noted = self._unit(decision, performed)
        unit.add_all((SettleEvent(event.id, _reason(walked)),))
        session = walked.session if held is not None and walked.session != held.session else None
        if held is not None and session is not None:
            unit.add_all(held.becomes(session))
        await unit.write(self._store)
        self._settled(decision, performed, noted())
        if held is not None and session is not None:
            self._keep(held, session, conversation)
            self.lanes.obey(held.key, self._queueing.of(conversation.route.channel, session))
        await self._reply(decision, performed)

    # --- an event that gets one, of each agent it wakes -------------------------------------------

    async def _route(self, decision: Decision, held: Held) -> None:
        walked, conversation, event = decision.walk, decision.conversation, decision.event
        message, session = walked.message, walked.session or held.session
        performed = await self._perform(decision)
        unit, noted = self._unit(decision, performed)
        async with AsyncExitStack() as stack:
            sessions = {session.agent: (held, session)}
            for agent in sorted({*message.agents} - {session.agent}):
                key = session_key(event.inbound, self._settings.rules.settings.session, agent)
                other = await stack.enter_async_context(self._sessions.changing(key, agent, decision.now))
                sessions[agent] = (other, other.session)
            if session.agent not in message.agents:
                unit.add_all(held.becomes(session))
            payloads = (
                Destination(sessions[agent][0].key, pack(message, agent, conversation.overheard, event.inbound))
                for agent in message.agents
            )
            unit.add_all((RouteEvent(event.id, tuple(payloads)),))
            destined = [self._destine(decision, unit, *sessions[agent]) for agent in message.agents]
            await unit.write(self._store)
            self._settled(decision, performed, noted())
            await self._reply(decision, performed)
            if session.agent not in message.agents:
                self._keep(held, session, conversation)
            self._enqueue(decision, destined)

    def _destine(self, decision: Decision, unit: Unit, held: Held, session: Session) -> Destined:
        """Adds to the unit what this session needs: the beginning of its turn, if nothing is before it."""
        conversation, message = decision.conversation, decision.walk.message
        queue = self._queueing.of(conversation.route.channel, session)
        in_line = self._queueing.in_line(message, session)
        start = self.lanes.start_of(held.key, queue, in_line)
        if start is None:
            unit.add_all(held.becomes(session))
            return Destined(held, session, queue, in_line, None)
        heard = conversation.messages.count + 1
        granted = begin_turn(unit, held, session, start, (decision.event.id,), conversation.route, heard, decision.now)
        return Destined(held, session, queue, in_line, granted)

    def _enqueue(self, decision: Decision, destined: list[Destined]) -> None:
        conversation, message, event = decision.conversation, decision.walk.message, decision.event
        overheard, conversation.overheard = conversation.overheard, ()
        handle = conversation.messages.handle(message.inbound.message_id)
        if not message.listening:
            self._tally.add(event.inbound, decision.now)
        for each in destined:
            self._started(each.held, each.session, conversation)
            granted = each.granted() if each.granted is not None else None
            if granted is None:
                each.held.became(each.session)
            asked = self._queueing.asked(event.id, message, conversation, overheard, handle)
            key, agent = each.held.key, each.session.agent
            self.lanes.arrive(key, agent, each.queue, (asked,), each.in_line, granted)

    # --- what every decision comes to -------------------------------------------------------------

    async def _perform(self, decision: Decision) -> list[Performed]:
        return [
            await self._effects.perform(effect, decision.conversation, decision.agent, decision.now)
            for effect in decision.walk.effects
        ]

    def _unit(self, decision: Decision, performed: list[Performed]) -> tuple[Unit, Callable[[], tuple[Message, ...]]]:
        unit, walked = Unit(), decision.walk
        inbound, now = decision.event.inbound, decision.now
        notes = decision.conversation.to_note(inbound, now, readable=walked.message.refusal is None)
        noted = unit.add(notes[0]) if notes else tuple[Message, ...]
        lines = (TraceLine(now, step.stage, step.decision, step.reason, step.took) for step in walked.trace)
        unit.add_all((Trace(decision.event.id, tuple(lines)), *(verb for each in performed for verb in each.verbs)))
        return unit, noted

    def _settled(self, decision: Decision, performed: list[Performed], noted: tuple[Message, ...]) -> None:
        """It is written: from now on it is so."""
        conversation = decision.conversation
        conversation.noted(noted)
        conversation.bot_turns = decision.bot_turns
        conversation.trace(decision.event.inbound.message_id, decision.walk.trace)
        for each in performed:
            each.then()

    async def _reply(self, decision: Decision, performed: list[Performed]) -> None:
        answered = [each.says for each in performed if each.says is not None]
        for reply in answered or decision.walk.replies:
            await decision.conversation.send(reply)

    def _keep(self, held: Held, session: Session, conversation: Conversation) -> None:
        self._started(held, session, conversation)
        held.became(session)

    def _started(self, held: Held, session: Session, conversation: Conversation) -> None:
        """A session that was only just made begins when there is something to remember: a choice, or a turn."""
        if held.is_new:
            self._tell(SessionStarted(session.key, session.agent, conversation.route))


def _reason(walked: Walk) -> str:
    """How an event ends that gets no turn."""
    outcome = walked.outcome
    if any(isinstance(effect, Overhear) for effect in walked.effects):
        how = OVERHEARD
    else:
        how = "answered" if isinstance(outcome, Answer) else "dropped"
    return f"{how}: {outcome.reason}" if outcome.reason else how
