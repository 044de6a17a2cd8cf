"""One shard: everything its owner remembers of it, and how a message enters. It dies with the lease (SC-4).

Read `__init__` from top to bottom for what is built on what: calls go downwards only, place -> session -> answer ->
outbox.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from rejoinder.bounded import Bounded
from rejoinder.errors import Superseded
from rejoinder.events import Inbound
from rejoinder.runtime.answer.handoff_row import HandoffRow
from rejoinder.runtime.external_changes import EventEntry, ExternalChanges
from rejoinder.runtime.outbox.conversations import Conversations
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.outbox.owners import OwnerChats
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.command_speech import CommandSpeech
from rejoinder.runtime.place.consequences import Consequences
from rejoinder.runtime.place.debounce import Debounce
from rejoinder.runtime.place.decider import Decider
from rejoinder.runtime.place.decision_recorder import DecisionRecorder
from rejoinder.runtime.place.effects import Effects
from rejoinder.runtime.place.facts import FactGatherer
from rejoinder.runtime.place.gateway_commands import GatewayCommands
from rejoinder.runtime.place.message_edits import MessageEdits
from rejoinder.runtime.place.program_commands import ProgramCommands
from rejoinder.runtime.place.restarting import Restarting
from rejoinder.runtime.place.rights import Rights
from rejoinder.runtime.place.shell import Shell
from rejoinder.runtime.place.turn_counts import TurnCounts
from rejoinder.runtime.place.turn_routing import TurnRouting
from rejoinder.runtime.recovery import Recovery
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.background import BackgroundStarter, DiscardChannel
from rejoinder.runtime.session.backlogs import Backlogs
from rejoinder.runtime.session.journal import LaneJournal
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.parts import SessionParts
from rejoinder.runtime.session.prefixes import Prefixes
from rejoinder.runtime.session.quarantine import Quarantine
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.readmission import Readmission
from rejoinder.runtime.session.relay import Watcher
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.session.subagent_runs import SubagentRuns
from rejoinder.runtime.session.subagents import Subagents
from rejoinder.runtime.session.turn_parts import TurnParts
from rejoinder.runtime.session.turn_runner import AgentTurnRunner
from rejoinder.runtime.session.unconfirmed_notice import UnconfirmedAnswerNotice
from rejoinder.session import deciding_home, shard_of
from rejoinder.store.base import InboxEvent, MoveEvent

NOBODY = Watcher()
SENDING = 5.0
"""Seconds for which planned parts are still sent when the engine ends; the next owner sends the rest."""
SEEN = 20_000
"""More events than an engine has in hand at a time."""


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
        self.tasks, self.store = services.tasks, services.store
        self._ending = False
        self._seen: Bounded[int, None] = Bounded(SEEN)  # events that have been taken
        store, tasks = services.store, services.tasks
        self._sessions = sessions = Sessions(store, services.memory.recently_used)
        access = Access(services.settings, store)
        prefixes, rights = Prefixes(services, sessions), Rights(services.settings, access)

        owners = OwnerChats(services)
        self.outbox = Outbox(services, owners, UnconfirmedAnswerNotice(services, prefixes, rights.may_resend))
        self.conversations = Conversations(services, self.outbox)

        queueing, self._slots = Queueing(services), Slots(services)
        slots = self._slots
        questions = Questions(services, self.conversations)
        subagent_runs = SubagentRuns(lambda: self.subagents, questions)
        turn_parts = TurnParts(services, sessions, questions, subagent_runs, watcher, self._hand_over)
        self.turn_runner = AgentTurnRunner(services, sessions, turn_parts)
        self.journal = LaneJournal(services, sessions, prefixes)
        self.lanes = Lanes(services, self.turn_runner, self.journal, slots)
        quarantine = Quarantine(services, self.conversations, prefixes, rights.may_resend)
        backlogs = Backlogs(services, self.conversations, sessions, self.lanes, queueing, quarantine)
        self.readmission = Readmission(services, backlogs, self.take)

        self._recovered = recovered = asyncio.Event()
        self.background = BackgroundStarter(
            services, self.conversations, nowhere, sessions, queueing, self.lanes, recovered
        )
        self.subagents = Subagents(services, sessions, self.conversations, self.lanes, self.background)

        parts = SessionParts(
            services,
            self.conversations,
            sessions,
            prefixes,
            queueing,
            questions,
            slots,
            self.lanes,
            quarantine,
            backlogs,
            self.readmission,
            self.subagents,
        )

        turn_counts, self.shell, spoken = TurnCounts(store), Shell(tasks), CommandSpeech(services)
        commands = GatewayCommands(services, self.turn_runner, restarting, self.shell, program, self.subagents, spoken)
        revise = MessageEdits(services, self.lanes, sessions).revise
        effects = Effects(parts, access, commands.run, revise)
        recorder = DecisionRecorder(services, effects, owners)
        routing = TurnRouting(services, sessions, self.lanes, queueing, recorder, turn_counts)
        consequences = Consequences(services, self.lanes, queueing, effects, recorder, routing)
        self._gatherer = FactGatherer(services, self.lanes, self.turn_runner, access, turn_counts, self.subagents)
        self._decider = Decider(
            services, self.conversations, sessions, self.lanes, self._gatherer, consequences, spoken
        )
        self.suggest = self._decider.suggest
        self._debounce = Debounce(services, self.decide)

        entry = EventEntry(self.take, self.decide, lambda event: event.id in self._seen, self._move)
        self._recovery = Recovery(parts, self.outbox, entry, recovered)
        self._external = ExternalChanges(parts, self.outbox, access, entry, recovered)

    async def recover(self) -> None:
        """Goes on with what an earlier process left; when this returns, everything is in its queue or under way, and
        what came meanwhile is behind it."""
        await self.subagents.load()
        await self._recovery.run()
        self._external.look()
        await self.subagents.settle()

    def stop_accepting(self) -> None:
        """From now on what comes is kept, and decided by the next owner."""
        self._ending = True

    # --- what comes in ------------------------------------------------------------------------------

    def may_decide_early(self, event: InboxEvent) -> bool:
        """Whether an event may be decided before it is durable, in the same commit."""
        return not self._ending and not self._debounce.waits(event.inbound.channel)

    def decide(self, *group: InboxEvent) -> asyncio.Task[None]:
        for event in group:
            self._seen[event.id] = None
        return self._decider.decide(*group)

    def forget(self, event: InboxEvent) -> None:
        """It could not be stored: the platform will deliver it again."""
        self._decider.forget(event)

    def take(self, event: InboxEvent) -> None:
        """Goes on with an event that is durable: at once, or with the rest of what its sender is typing (IN-76)."""
        if self._ending:
            return  # the next owner finds it
        if self._debounce.waits(event.inbound.channel):
            self._seen[event.id] = None
            self._debounce.take(event, self._gatherer.me(event.inbound, self.conversations.of(event.inbound)))
        else:
            self.decide(event)

    async def _move(self, event: InboxEvent) -> bool:
        """What an earlier version has accepted for the owner of the chat is decided by the owner of its session."""
        services = self._services
        home = deciding_home(event.inbound, services.settings.now.rules.settings.session)
        if not home or services.shards == 1 or shard_of(home, services.shards) == services.shard:
            return False
        with suppress(Superseded):  # it is decided meanwhile
            await self.store.write(MoveEvent(event.id, home))
        return True

    @property
    def is_recovered(self) -> bool:
        return self._recovered.is_set()

    def changed(self) -> None:
        """Something may have been written to the shard from outside."""
        self._external.changed()

    def read_again(self) -> None:
        """What others may have changed, and is asked for with each message, is read again with the next one."""
        self._external.read_again()

    def arrived(self) -> None:
        """A message was accepted in a store that other processes write to as well."""
        self._external.arrived()

    # --- the end ------------------------------------------------------------------------------------

    async def drain(self, grace: float) -> None:
        """Takes nothing more, gives runs `grace` seconds to end, gives back the rest, and sends for a moment."""
        self._ending = True
        await self._recovery.stop()
        await self.lanes.drain(grace)
        await self.shell.stop()
        await self.outbox.drain(min(grace, SENDING))

    def kill(self) -> None:
        """The lease is lost: ends everything at once. Nothing is given back, as nothing can be written any more."""
        self._ending = True
        self.lanes.stop_starting()
        self._services.tasks.kill()
        self._slots.close()
        for memory in (self.conversations, self._sessions, self.turn_runner.restorer):
            memory.forget()

    def _hand_over(self, inbound: Inbound, is_left: Callable[[], bool]) -> HandoffRow:
        return HandoffRow(inbound, self._services, self.decide, is_left)
