"""Decides the messages of each place one after the other, in the order of their arrival.

The channel that delivers them does not wait for the decisions. consequences.py carries these out.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from functools import partial
from time import perf_counter

from msgspec.structs import replace

from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.events import Inbound, Route, SpeakText
from rejoinder.inbound import BEFORE_SESSION, resume
from rejoinder.inbound.commands.native import typed_out
from rejoinder.inbound.commands.suggest import suggestions
from rejoinder.inbound.debounce import joined
from rejoinder.inbound.finalise import finalise, undecided_message
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Continue, StageResult, run_stages
from rejoinder.inbound.rooms import is_member, members, whose_message
from rejoinder.inbound.rules import channel_rules
from rejoinder.inbound.stop_words import asks_to_stop
from rejoinder.inbound.threads import in_thread, opened_by
from rejoinder.inbound.understanding import to_understand
from rejoinder.runtime.outbox.conversations import Conversation, Conversations, author_of_ours
from rejoinder.runtime.place.acceptance_order import AcceptanceOrder, Arrival
from rejoinder.runtime.place.command_speech import CommandSpeech
from rejoinder.runtime.place.consequences import Consequences
from rejoinder.runtime.place.decision import Decision
from rejoinder.runtime.place.facts import FactGatherer
from rejoinder.runtime.place.understanding import Understanding
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.speech import speech_of
from rejoinder.runtime.write_batch import WriteBatch, until_available
from rejoinder.session import Session, SessionSettings, ruled_by, session_key
from rejoinder.store.base import InboxEvent, SettleEvent

log = logging.getLogger(__name__)

DECIDED_AGAIN = 3


class PlaceQueue:
    """The messages of one place that are not decided yet, in order, and the task that decides them."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.arrived: deque[Arrival] = deque()
        self.task: asyncio.Task[None] | None = None


class Decider:
    def __init__(
        self,
        services: Services,
        conversations: Conversations,
        sessions: Sessions,
        lanes: Lanes,
        gatherer: FactGatherer,
        consequences: Consequences,
        spoken: CommandSpeech,
    ) -> None:
        self._settings = services.settings
        self._agents = services.agents
        self._tasks = services.tasks
        self._clock = services.clock
        self._store = services.store
        self._conversations = conversations
        self._sessions = sessions
        self._lanes = lanes
        self._gatherer = gatherer
        self._consequences = consequences
        self._understanding = Understanding(services)
        self._spoken = spoken
        self._precedence = AcceptanceOrder()
        self._queues: dict[Route, PlaceQueue] = {}

    def decide(self, *group: InboxEvent) -> asyncio.Task[None]:
        """Decides the messages that a sender typed in one go as one, after the earlier messages of the place."""
        inbound, rules = group[-1].inbound, self._settings.now.rules
        channel = channel_rules(rules, inbound.channel)
        here = members(inbound, channel)
        session = rules.settings.session
        keys = _keys(inbound, session, here)
        if (opening := _as_one(group)).opens is not None:
            keys += _keys(in_thread(opening), session, here)
        conversation = self._conversations.of(inbound)
        route = conversation.route
        queue = self._queues.get(route)
        if queue is None:
            queue = self._queues[route] = PlaceQueue(conversation)
        elif (
            queue.arrived
            and queue.arrived[0].events[-1].inbound.sender == inbound.sender
            and asks_to_stop(inbound.text)
        ):
            self._understanding.stop(route)
            self._spoken.stop(route)
        queue.arrived.append(Arrival(group, channel, here, self._precedence.ticket(keys), rules))
        if queue.task is None or queue.task.done():
            name = f"decide:{inbound.channel}:{inbound.chat.id}"
            queue.task = self._tasks.start(name, self._decide_in_order(queue), then=partial(self._remove, queue))
        return queue.task

    def forget(self, event: InboxEvent) -> None:
        """The event could not be stored, so its decision has no effect."""
        if (queue := self._queues.get(event.inbound.route)) is None:
            return
        for arrival in [each for each in queue.arrived if each.events == (event,)]:
            queue.arrived.remove(arrival)
            self._precedence.give_back(arrival.ticket)

    def _remove(self, queue: PlaceQueue) -> None:
        if not queue.arrived and (queue.task is None or queue.task.done()):
            self._queues.pop(queue.conversation.route, None)

    async def _decide_in_order(self, queue: PlaceQueue) -> None:
        again = 0
        while queue.arrived:
            arrival = queue.arrived[0]
            try:
                further = await self._decide(arrival, queue.conversation)
            except StoreUnavailable as fault:
                try:
                    await until_available(self._store, fault)
                except StoreUnavailable:
                    self._precedence.give_back(arrival.ticket)  # the gateway ends: releases those behind it
                    raise
                continue
            except Superseded as lost:  # something that the decision was based on was changed from outside the engine
                log.info("%s; it is decided again", lost)
                self._gatherer.read_again()
                if (again := again + 1) < DECIDED_AGAIN:
                    continue
            except Exception as error:  # one message must not hold up those behind it
                if next(iter(queue.arrived), None) is not arrival:
                    continue  # it could not be stored and was forgotten; the platform will deliver it again
                log.exception("a message of %s could not be decided", queue.conversation.channel.name)
                failed = f"failed: {type(error).__name__}"
                with suppress(Superseded):  # the decision was already written; the failure came later
                    await WriteBatch(*(SettleEvent(event.id, failed) for event in arrival.events)).insist(self._store)
            else:
                if further is not None and next(iter(queue.arrived), None) is arrival:
                    queue.arrived[0] = further
                    continue
            self._precedence.give_back(arrival.ticket)
            if queue.arrived and queue.arrived[0] is arrival:
                queue.arrived.popleft()
            again = 0

    async def _decide(self, arrival: Arrival, conversation: Conversation) -> Arrival | None:
        """Returns the arrival if its media had to be understood or its words spoken first, and it has to be decided
        again."""
        now, rules, channel = self._clock(), arrival.rules, arrival.channel
        here, keys = arrival.members, arrival.ticket.keys
        before, event = arrival.events[:-1], arrival.events[-1]
        inbound = _as_one(arrival.events)
        if inbound.invoked is not None:
            inbound = typed_out(inbound, rules)
        ours = is_member(inbound, channel)
        if not conversation.is_open:
            await conversation.open(now)
        if inbound.entry == "edit" and inbound.former_text is None:
            inbound = replace(inbound, former_text=await conversation.words_of(inbound.message_id))
        quoted = None if inbound.reply_to is None else await conversation.look_up(inbound.reply_to.message_id)
        agent = whose_message(inbound, channel, author_of_ours(quoted))
        key = keys[here.index(agent)]
        for position, each in enumerate(here):
            if not conversation.overheard.has_recalled(each):
                await conversation.overheard.recall(each, keys[position], inbound)
        if (ending := self._lanes.ending(key)) is not None:
            await self._lanes.end_of(ending)
        turns = await conversation.count_bot_turns(inbound, now, ours=ours)
        facts = await self._gatherer.facts(inbound, conversation, channel, turns, key, agent, now, quoted, ours=ours)
        message = undecided_message(inbound, facts)
        decided = run_stages(BEFORE_SESSION, message, None, rules, now, perf_counter, arrival.understood)
        said = event, before, conversation, conversation, agent, here, now
        if not isinstance(decided.outcome, Continue):
            await self._consequences.settle(Decision(*said, decided, turns, ours), None)
            return None
        opens = None if inbound.opens is None else opened_by(decided.message, rules)
        if arrival.ticket.before:
            await arrival.ticket.turn()
        chat_key, key = key, key if opens is None else keys[len(here) + here.index(agent)]
        async with self._sessions.changing(key, agent, now) as held:
            session = held.session
            if opens is not None:
                session = ruled_by(session, await self._sessions.find(chat_key, agent, now))
            decided = resume(decided, session, rules, now, perf_counter)
            wanted = to_understand(decided, self._settings.now.media.understanding)
            spoken = _to_speak(decided) if decided.effects and not arrival.is_spoken else None
            if wanted is None and spoken is None:
                decision = Decision(*said, decided, turns, ours)
                if opens is not None and isinstance(decided.outcome, Continue):
                    decision = await self._into_thread(decision, in_thread(inbound))
                await self._consequences.of(decision, held)
                return None
        if wanted is None:
            return await self._speak(arrival, decided.message, session, conversation, spoken or "")
        event, steps = await self._understanding.of(event, wanted, conversation)
        return replace(arrival, events=(*before, event), understood=steps)

    async def _speak(
        self, arrival: Arrival, message: InboundMessage, session: Session, here: Conversation, words: str
    ) -> Arrival:
        """Speaks the words of a command; the session is not locked meanwhile."""
        settings = self._settings.now
        speech = speech_of(message, session, settings, here, self._agents[session.agent])
        await self._spoken.speak(arrival.events[-1].id, words, speech, here)
        return replace(arrival, is_spoken=True)

    async def suggest(self, typed: Inbound, option: str) -> tuple[str, ...]:
        """Suggests values for an option of a command that is being typed (CH-9); nothing is stored."""
        now, rules = self._clock(), self._settings.now.rules
        inbound = typed_out(typed, rules)
        channel, conversation = channel_rules(rules, inbound.channel), self._conversations.of(inbound)
        await conversation.open(now)
        agent = whose_message(inbound, channel, "")
        key, turns = session_key(inbound, rules.settings.session, agent), conversation.bot_turns
        facts = await self._gatherer.facts(inbound, conversation, channel, turns, key, agent, now, None, ours=False)
        outcome = finalise(undecided_message(inbound, facts), None, rules, now)
        if not isinstance(outcome, Continue) or outcome.message is None:
            return ()
        return suggestions(outcome.message, option, rules)

    async def _into_thread(self, decision: Decision, inbound: Inbound) -> Decision:
        """Moves the turn to the thread that its answer will open, before that thread exists (CH-2). `inbound`: the
        message as it appears in that thread."""
        there = self._conversations.of(inbound)
        await there.open(decision.now)
        message = replace(decision.result.message, inbound=inbound)
        return replace(decision, answered_in=there, result=replace(decision.result, message=message))


def _as_one(group: tuple[InboxEvent, ...]) -> Inbound:
    """The messages that a sender typed in one go, as one."""
    return group[0].inbound if len(group) == 1 else joined(tuple([event.inbound for event in group]))


def _keys(inbound: Inbound, settings: SessionSettings, agents: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of the sessions it may enter, one for each of these agents; usually there is only one."""
    if len(agents) == 1:
        return (session_key(inbound, settings, agents[0]),)
    return tuple([session_key(inbound, settings, agent) for agent in agents])


def _to_speak(decided: StageResult) -> str | None:
    return next((effect.text for effect in decided.effects if isinstance(effect, SpeakText)), None)
