"""One engine: everything it owns, and how a message enters it.

Read `__init__` from top to bottom for what is built on what: calls go downwards only, place -> session -> answer ->
outbox.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from rejoinder.events import Inbound, MessageReceived
from rejoinder.runtime.answer.handoff import HandedRow
from rejoinder.runtime.foreign_changes import ForeignChanges
from rejoinder.runtime.outbox.conversations import Conversations
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.outbox.owners import Owners
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.consequences import Consequences
from rejoinder.runtime.place.debounce import Debounce
from rejoinder.runtime.place.decider import Decider
from rejoinder.runtime.place.effects import Effects
from rejoinder.runtime.place.facts import FactGatherer
from rejoinder.runtime.place.gateway_commands import GatewayCommands
from rejoinder.runtime.place.program_commands import ProgramCommands
from rejoinder.runtime.place.restarting import Restarting
from rejoinder.runtime.place.revising import Revising
from rejoinder.runtime.place.rights import Rights
from rejoinder.runtime.place.shell import Shell
from rejoinder.runtime.place.tally import Tally
from rejoinder.runtime.recovery import Recovery
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.background import BackgroundStarter, DiscardChannel
from rejoinder.runtime.session.backlogs import Backlogs
from rejoinder.runtime.session.journal import LaneJournal
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.prefixes import Prefixes
from rejoinder.runtime.session.quarantine import Quarantine
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.readmission import Readmission
from rejoinder.runtime.session.relay import Watcher
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.session.subagents import Subagents
from rejoinder.runtime.session.unconfirmed import Unconfirmed
from rejoinder.runtime.session.work import Workers
from rejoinder.runtime.upkeep import Upkeep
from rejoinder.session import home
from rejoinder.store.base import Accept, Cursor, InboxEvent, RecordChanges

NOBODY = Watcher()


def utc_now() -> datetime:
    return datetime.now(UTC)


class Engine:
    """`services.channels` has `nowhere`, where words go that have no target."""

    def __init__(
        self,
        services: Services,
        nowhere: DiscardChannel,
        restarting: Restarting,
        program: ProgramCommands,
        watcher: Watcher = NOBODY,
    ) -> None:
        self._services = services
        self._defers = True  # until it has recovered
        self._deferred: list[InboxEvent] = []
        store, clock, runs = services.store, services.clock, services.runs
        sessions, access = Sessions(store), Access(services.settings, store)
        prefixes, rights = Prefixes(services, sessions), Rights(services.settings, access)

        owners = Owners(services)
        self.outbox = Outbox(services, owners, Unconfirmed(services, prefixes, rights.may_resend))
        self.conversations = Conversations(services, self.outbox)

        queueing, questions, slots = Queueing(services), Questions(services), Slots(services)
        self.workers = Workers(services, sessions, questions, watcher, self._hand_over, lambda: self.subagents)
        self.journal = LaneJournal(services, sessions, prefixes)
        self.lanes = Lanes(services, self.workers, self.journal, slots)
        quarantine = Quarantine(services, self.conversations, prefixes, rights.may_resend)
        backlogs = Backlogs(services, self.conversations, sessions, self.lanes, queueing, quarantine)
        self.readmission = Readmission(services, backlogs, self.take)

        recovered = asyncio.Event()
        self.background = BackgroundStarter(
            services, self.conversations, nowhere, sessions, queueing, self.lanes, recovered
        )
        self.subagents = Subagents(services, sessions, self.conversations, self.lanes, self.background)

        tally, self.shell = Tally(store), Shell(runs)
        commands = GatewayCommands(services, self.workers, restarting, self.shell, program, self.subagents)
        revise = Revising(services, self.lanes, sessions).revise
        effects = Effects(
            services, self.lanes, questions, access, commands.run, self.readmission, self.subagents, revise
        )
        consequences = Consequences(services, sessions, self.lanes, queueing, effects, owners, tally)
        self._gatherer = FactGatherer(services, self.lanes, self.workers, access, tally, self.subagents)
        self._decider = Decider(services, self.conversations, sessions, self._gatherer, consequences)
        self.decide, self.suggest = self._decider.decide, self._decider.suggest
        self._debounce = Debounce(services, self.decide)

        self.upkeep = Upkeep(store, clock)
        self.foreign_changes = ForeignChanges(store, self.outbox, access, self.readmission, runs)
        self.recovery = Recovery(
            services,
            self.conversations,
            sessions,
            self.lanes,
            slots,
            queueing,
            self.take,
            self.decide,
            self.outbox,
            quarantine,
            backlogs,
            prefixes,
            self.readmission,
            recovered,
        )

    async def recover(self) -> None:
        """Goes on with what an earlier process left; when this returns, everything is in its queue or under way, and
        what came meanwhile is behind it."""
        await self.subagents.load()
        await self.recovery.run()
        await self.subagents.settle()
        self._defers = False
        waited, self._deferred = self._deferred, []
        for event in waited:
            if event.id not in self.recovery.found:
                self.take(event)

    def defer(self) -> None:
        """From now on what people say in rooms is kept, and decided after the next start."""
        self._defers = True

    async def accept(self, *messages: Inbound, cursor: Cursor | None = None, places: tuple[Cursor, ...] = ()) -> None:
        """Called by channels; returns when the messages are durable, not when they are answered (DU-1).

        Deciding starts while they are being written, so the decision is usually part of the same commit.
        """
        await self._accept(Accept(messages, self._services.clock(), cursor, places, self._homes(messages)), None)

    async def record(self, change: RecordChanges, *messages: Inbound) -> int:
        """The same, in one transaction with what a room log says of the messages; returns what that verb does."""
        accept = Accept(messages, self._services.clock(), homes=self._homes(messages))
        return await self._accept(accept, change)

    def _homes(self, messages: tuple[Inbound, ...]) -> tuple[str, ...]:
        session = self._services.settings.now.rules.settings.session
        return tuple([home(message, session) for message in messages])

    async def _accept(self, accept: Accept, change: RecordChanges | None) -> int:
        first, store = 0, self._services.store
        is_deferred = self._defers and change is not None  # people may write before, and after, channels listen
        taken: list[InboxEvent] = []

        def take(events: tuple[InboxEvent, ...]) -> None:
            if is_deferred:
                return
            taken.extend(event for event in events if not self._debounce.waits(event.inbound.channel))
            for event in taken:
                self.decide(event)

        try:
            if change is None:
                events = await store.write(accept, known=take)
            else:
                events, first = await store.write(accept, change, known=take)
        except Exception:
            for event in taken:  # the platform will deliver it again
                self._decider.forget(event)
            raise
        for event in events:
            self._services.hooks.tell(MessageReceived(event.inbound))
            if is_deferred and self._defers:
                self._deferred.append(event)
            elif event not in taken:
                self.take(event)
        return first

    def take(self, event: InboxEvent) -> None:
        """Goes on with an event that is durable: at once, or with the rest of what its sender is typing (IN-76)."""
        if self._debounce.waits(event.inbound.channel):
            self._debounce.take(event, self._gatherer.me(self.conversations.of(event.inbound)))
        else:
            self.decide(event)

    def _hand_over(self, inbound: Inbound, is_left: Callable[[], bool]) -> HandedRow:
        return HandedRow(inbound, self._services, self.decide, is_left)
