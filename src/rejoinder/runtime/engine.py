"""The main path of a message: inbox -> stages -> what the decision leads to (consequences.py).

Messages of one place are decided one after the other, in the order in which they came. The channel that delivers them
does not wait for the decisions.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from time import perf_counter

from msgspec.structs import replace

from rejoinder.agents.base import Agent
from rejoinder.channels.base import Channel
from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.events import Inbound, MessageReceived
from rejoinder.inbound import BEFORE_SESSION, resume
from rejoinder.inbound.debounce import joined
from rejoinder.inbound.finalise import arrived
from rejoinder.inbound.outcome import Continue, walk
from rejoinder.inbound.rooms import members, whose_message
from rejoinder.inbound.rules import channel_rules
from rejoinder.runtime.answer.handoff import HandedRow
from rejoinder.runtime.backlogs import Backlogs
from rejoinder.runtime.foreign_changes import ForeignChanges
from rejoinder.runtime.hooks import Hooks
from rejoinder.runtime.outbox.conversations import Conversation, Conversations
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.outbox.owners import Owners
from rejoinder.runtime.outbox.unconfirmed import Unconfirmed
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.consequences import Consequences, Decision
from rejoinder.runtime.place.debounce import Debounce
from rejoinder.runtime.place.effects import Effects
from rejoinder.runtime.place.facts import FactGatherer
from rejoinder.runtime.place.gateway_commands import GatewayCommands
from rejoinder.runtime.place.precedence import Arrival, Precedence
from rejoinder.runtime.place.queueing import Queueing
from rejoinder.runtime.place.restarting import Restarting
from rejoinder.runtime.place.rights import Rights
from rejoinder.runtime.place.shell import Shell
from rejoinder.runtime.place.tally import Tally
from rejoinder.runtime.prefixes import Prefixes
from rejoinder.runtime.quarantine import Quarantine
from rejoinder.runtime.readmission import Readmission
from rejoinder.runtime.recovery import Recovery
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.serving import by_name, listeners
from rejoinder.runtime.session.background import BackgroundStarter, DiscardChannel
from rejoinder.runtime.session.journal import LaneJournal
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.relay import Watcher
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.session.work import Workers
from rejoinder.runtime.settings import Reconfigurable, RuntimeSettings
from rejoinder.runtime.upkeep import Upkeep
from rejoinder.runtime.write_batch import WriteBatch, until_good
from rejoinder.session import session_key
from rejoinder.store.base import Accept, Cursor, InboxEvent, RecordChanges, SettleEvent, Store

log = logging.getLogger(__name__)


NOBODY = Watcher()
DECIDED_AGAIN = 3


def utc_now() -> datetime:
    return datetime.now(UTC)


class Engine:
    def __init__(
        self,
        agents: Mapping[str, Agent],
        channels: Sequence[Channel],
        runs: Runs,
        settings: RuntimeSettings,
        store: Store,
        clock: Callable[[], datetime] = utc_now,
        watcher: Watcher = NOBODY,
        hooks: Hooks | None = None,
        *,
        restarting: Restarting,
    ) -> None:
        self._settings = settings
        self._runs = runs
        self._clock = clock
        self._store = store
        self._sessions = Sessions(store)
        self._precedence = Precedence()
        self._defers = True  # until it has recovered
        self._deferred: list[InboxEvent] = []
        hooks = hooks or Hooks()
        self._tell = hooks.tell
        self.nowhere = DiscardChannel()
        queueing, tally = Queueing(settings, runs), Tally(store)
        named = by_name(channels)
        places = {**named, **listeners(channels), self.nowhere.name: self.nowhere}
        self.outbox = Outbox(places, store, runs, settings.channel, clock, self._tell)
        self.conversations = Conversations(places, store, self.outbox, settings.channel)
        owners = Owners(self.conversations, named, store, clock)
        self.outbox.losses.owners = owners
        questions, access = Questions(runs, settings.question_seconds, store.generation), Access(settings.rules, store)
        self.workers = workers = Workers(
            agents, self._sessions, store, settings, runs, questions, clock, watcher, self._tell, self._hand_over
        )
        prefixes, rights = Prefixes(settings, self._sessions, clock), Rights(settings, access)
        self.outbox.losses.sentence = Unconfirmed(store, prefixes, rights.may_resend)
        self.journal = LaneJournal(store, self._sessions, prefixes, clock)
        slots = Slots(settings.limits, runs, agents)
        self.lanes = Lanes(workers, self.journal, runs, slots, settings.lease)
        self.shell = Shell(runs)
        self.gateway_commands = gateway_commands = GatewayCommands(
            agents, settings, store, workers, restarting, self.shell
        )
        quarantine = Quarantine(store, self.conversations, prefixes, rights, runs, clock)
        backlogs = Backlogs(store, self.conversations, self._sessions, self.lanes, queueing, agents, quarantine, clock)
        self.readmission = Readmission(store, backlogs, self.take, clock)
        self._effects = Effects(
            agents,
            self.lanes,
            questions,
            access,
            settings.show_config,
            self._tell,
            gateway_commands.run,
            self.readmission,
        )
        self._consequences = Consequences(
            settings, store, self._sessions, self.lanes, queueing, self._effects, owners, tally, hooks
        )
        self.upkeep = Upkeep(store, self.lanes, self.journal, clock)
        self.foreign_changes = ForeignChanges(store, self.outbox, access, self.readmission, runs)
        self.recovery = Recovery(
            store,
            self.conversations,
            self._sessions,
            self.lanes,
            slots,
            queueing,
            runs,
            self.take,
            self.decide,
            agents,
            settings.on_crash,
            clock,
            self.outbox,
            quarantine,
            backlogs,
            prefixes,
            self.readmission,
        )
        self.background = BackgroundStarter(
            agents,
            settings.rules,
            self.conversations,
            self.nowhere,
            self._sessions,
            queueing,
            self.lanes,
            store,
            clock,
            self._tell,
            self.recovery.over,
        )
        self._gatherer = FactGatherer(settings, self.lanes, workers, access, tally, store)
        self._debounce = Debounce(settings.rules, runs, clock, self.decide)
        before_a_turn = (
            self._gatherer,
            self._debounce,
            access,
            queueing,
            self._effects,
            gateway_commands,
            self._consequences,
        )
        during_a_turn = (
            self.background,
            workers,
            questions,
            slots,
            self.lanes,
            self.outbox,
            self.conversations,
            prefixes,
            rights,
        )
        self._reconfigurable: tuple[Reconfigurable, ...] = (*before_a_turn, *during_a_turn)

    def reconfigure(self, settings: RuntimeSettings) -> None:
        """These hold from the next message on; a turn that has begun keeps the settings it began with."""
        self._settings = settings
        for each in self._reconfigurable:
            each.reconfigure(settings)

    async def recover(self) -> None:
        """Goes on with what an earlier process has left; what came meanwhile is decided after that."""
        await self.recovery.run()
        self._defers = False
        waited, self._deferred = self._deferred, []
        for event in waited:
            if event.id not in self.recovery.found:
                self.take(event)

    def defer(self) -> None:
        """From now on messages are kept, and decided after the next start."""
        self._defers = True

    async def accept(self, *messages: Inbound, cursor: Cursor | None = None, places: tuple[Cursor, ...] = ()) -> None:
        """Called by channels; returns when the messages are durable, not when they are answered (DU-1).

        Deciding starts while they are being written, so the decision is usually part of the same commit.
        """
        await self._accept(Accept(messages, self._clock(), cursor, places), None)

    async def record(self, change: RecordChanges, *messages: Inbound) -> int:
        """The same, in one transaction with what a room log says of the messages; returns what that verb does."""
        return await self._accept(Accept(messages, self._clock()), change)

    async def _accept(self, accept: Accept, change: RecordChanges | None) -> int:
        first = 0
        taken: list[InboxEvent] = []

        def take(events: tuple[InboxEvent, ...]) -> None:
            if self._defers:
                return
            taken.extend(event for event in events if not self._debounce.waits(event.inbound.channel))
            for event in taken:
                self.decide(event)

        try:
            if change is None:
                events = await self._store.write(accept, known=take)
            else:
                events, first = await self._store.write(accept, change, known=take)
        except Exception:
            for event in taken:  # the platform will deliver it again
                self._forget(event)
            raise
        for event in events:
            self._tell(MessageReceived(event.inbound))
            if self._defers:
                self._deferred.append(event)
            elif event not in taken:
                self.take(event)
        return first

    def _forget(self, event: InboxEvent) -> None:
        waiting = self.conversations.of(event.inbound).arrived
        for arrival in [arrival for arrival in waiting if arrival.events == (event,)]:
            waiting.remove(arrival)
            self._precedence.give_back(arrival.ticket)

    def take(self, event: InboxEvent) -> None:
        """Goes on with an event that is durable: at once, or with the rest of what its sender is typing (IN-76)."""
        if self._debounce.waits(event.inbound.channel):
            self._debounce.take(event, self._gatherer.me(self.conversations.of(event.inbound)))
        else:
            self.decide(event)

    def decide(self, *group: InboxEvent) -> asyncio.Task[None]:
        """Decides what a sender typed in one go as one message, after the earlier messages of its place."""
        inbound, rules = group[-1].inbound, self._settings.rules
        conversation, here = self.conversations.of(inbound), members(inbound, channel_rules(rules, inbound.channel))
        keys = [session_key(inbound, rules.settings.session, agent) for agent in here]
        conversation.arrived.append(Arrival(group, self._precedence.ticket(keys), rules))
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
                    self._precedence.give_back(arrival.ticket)  # the gateway ends: release those that wait behind it
                    raise
                continue
            except Superseded as lost:  # what the decision was based on was changed from outside the engine
                log.info("%s; it is decided again", lost)
                if (again := again + 1) < DECIDED_AGAIN:
                    continue
            except Exception as error:  # one message must not hold up those behind it
                if next(iter(conversation.arrived), None) is not arrival:
                    continue  # it could not be stored and was forgotten; the platform will deliver it again
                log.exception("a message of %s could not be decided", conversation.channel.name)
                failed = f"failed: {type(error).__name__}"
                with suppress(Superseded):  # its decision was already written; the failure came later
                    await WriteBatch(*(SettleEvent(event.id, failed) for event in arrival.events)).insist(self._store)
            self._precedence.give_back(arrival.ticket)
            if conversation.arrived and conversation.arrived[0] is arrival:
                conversation.arrived.popleft()
            again = 0

    async def _decide(self, arrival: Arrival, conversation: Conversation) -> None:
        now, rules, group = self._clock(), arrival.rules, arrival.events
        inbound, event, before = joined(tuple(event.inbound for event in group)), group[-1], group[:-1]
        channel = channel_rules(rules, inbound.channel)
        here, keys, ours = members(inbound, channel), arrival.ticket.keys, self._gatherer.is_member(inbound)
        await conversation.open(now)
        if inbound.entry == "edit" and inbound.former_text is None:
            inbound = replace(inbound, former_text=await conversation.words_of(inbound.message_id))
        agent = whose_message(inbound, channel, await conversation.author_answered(inbound))
        key = keys[here.index(agent)]
        for each, its_key in zip(here, keys, strict=True):
            await conversation.recall(each, its_key, inbound)
        await self.lanes.ended(key)
        turns = await conversation.counting(inbound, now, ours=ours)
        facts = await self._gatherer.facts(inbound, conversation, turns, key, agent, now, ours=ours)
        message = arrived(inbound, facts)
        decided = walk(BEFORE_SESSION, message, None, rules, now, perf_counter)
        decision = Decision(event, before, conversation, agent, here, now, decided, turns, ours)
        if not isinstance(decided.outcome, Continue):
            return await self._consequences.settle(decision, None)
        await arrival.ticket.turn()
        async with self._sessions.changing(key, agent, now) as held:
            decided = resume(decided, held.session, rules, now, perf_counter)
            decision = replace(decision, walk=decided)
            if isinstance(decided.outcome, Continue):
                await self._consequences.route(decision, held)
            elif (work := self._effects.as_turn(decided, agent)) is not None:
                await self._consequences.route(replace(decision, walk=work), held)
            else:
                await self._consequences.settle(decision, held)

    def _hand_over(self, inbound: Inbound, is_left: Callable[[], bool]) -> HandedRow:
        return HandedRow(inbound, self._clock(), self._store, self._runs, self.decide, is_left)
