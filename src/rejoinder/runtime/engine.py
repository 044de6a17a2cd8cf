"""The engine of one shard: everything its owner remembers of it, and how messages enter. It dies with the lease (SC-4).

To see what is built on what, read `__init__` from top to bottom, then `session/room.py` and `place/room.py`. Calls only
go downwards, place -> session -> answer -> outbox.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final

from rejoinder.bounded import Bounded
from rejoinder.errors import Superseded
from rejoinder.events import Inbound
from rejoinder.runtime.answer.handoff_row import HandoffRow
from rejoinder.runtime.external_changes import EventEntry, ExternalChanges
from rejoinder.runtime.outbox.conversations import Conversations
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.outbox.owners import OwnerChats
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.rights import Rights
from rejoinder.runtime.place.room import PlaceRoom, ProcessControl
from rejoinder.runtime.recovery import Recovery
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.background import DiscardChannel
from rejoinder.runtime.session.prefixes import Prefixes
from rejoinder.runtime.session.relay import Watcher
from rejoinder.runtime.session.room import EngineLinks, SessionRoom
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.unconfirmed_notice import UnconfirmedAnswerNotice
from rejoinder.session import deciding_home, shard_of
from rejoinder.store.base import InboxEvent, MoveEvent

NOBODY = Watcher()
SENDING = 5.0
"""Seconds for which planned parts are still sent when the engine ends; the next owner sends the rest."""
SEEN = 20_000
"""More than the number of events that an engine handles at a time."""

utc_now: Final = partial(datetime.now, UTC)


class Engine:
    """`services.channels` includes `nowhere`, which takes words that have no target."""

    def __init__(
        self,
        services: Services,
        nowhere: DiscardChannel,
        control: ProcessControl,
        watcher: Watcher = NOBODY,
    ) -> None:
        self._services = services
        self.tasks, self.store = services.tasks, services.store
        self._ending = False
        self._seen: Bounded[int, None] = Bounded(SEEN)  # events that were taken
        self._recovered = asyncio.Event()
        self._sessions = Sessions(services.store, services.memory.recently_used)
        access = Access(services.settings, services.store)
        prefixes, rights = Prefixes(services, self._sessions), Rights(services.settings, access)

        owners = OwnerChats(services)
        self.outbox = Outbox(services, owners, UnconfirmedAnswerNotice(services, prefixes, rights.may_resend))
        self.conversations = Conversations(services, self.outbox)

        links = EngineLinks(self._readmit, self.changed, self._hand_over, self._recovered, nowhere, watcher)
        room = SessionRoom(services, self.conversations, self._sessions, prefixes, rights.may_resend, links)
        self.turn_runner, self.journal, self.background = room.turn_runner, room.journal, room.background
        self.subagents, queue = room.parts.subagents, room.parts.queue
        self.lanes, self.readmission, self._slots = queue.lanes, queue.readmission, queue.slots

        self._place = PlaceRoom(room.parts, self.turn_runner, access, owners, control, self.decide)
        self.suggest = self._place.decider.suggest

        entry = EventEntry(self.take, self.decide, lambda event: event.id in self._seen, self._move)
        self._recovery = Recovery(room.parts, self.outbox, entry, self._recovered)
        self._external = ExternalChanges(room.parts, self.outbox, access, entry, self._recovered)

    async def recover(self) -> None:
        """Continues what an earlier process left unfinished. When this returns, all of it is queued or under way, and
        messages that came meanwhile are queued behind it."""
        await self.subagents.load()
        await self._recovery.run()
        # Other shards may have made requests meanwhile, also to a shard that is part of this one now.
        self._external.changed()
        await self.subagents.settle()

    def stop_accepting(self) -> None:
        """From now on new messages are only stored; the next owner decides them."""
        self._ending = True

    # --- messages that come in ----------------------------------------------------------------------

    def may_decide_early(self, event: InboxEvent) -> bool:
        """Whether an event may be decided before it is durable, in the same commit."""
        return not self._ending and not self._place.debounce.waits(event.inbound.channel)

    def decide(self, *group: InboxEvent) -> asyncio.Task[None]:
        for event in group:
            self._seen[event.id] = None
        return self._place.decider.decide(*group)

    def forget(self, event: InboxEvent) -> None:
        """The event could not be stored: the platform will deliver it again."""
        self._place.decider.forget(event)

    def take(self, event: InboxEvent) -> None:
        """Takes an event that is durable: it is decided at once, or together with what its sender is still typing
        (IN-76)."""
        if self._ending:
            return  # the next owner finds it
        place, inbound = self._place, event.inbound
        if place.debounce.waits(inbound.channel):
            self._seen[event.id] = None
            place.debounce.take(event, place.gatherer.me(inbound, self.conversations.of(inbound)))
        else:
            self.decide(event)

    async def _readmit(self, event: InboxEvent) -> None:
        """Takes an event that comes out of quarantine. If its channel is no longer configured, the event waits until it
        is."""
        if not await self._move(event) and self.conversations.has(event.inbound.channel):
            self.take(event)

    async def _move(self, event: InboxEvent) -> bool:
        """Moves an event to the owner of its session, who decides it. An earlier version accepted such events for the
        owner of the chat."""
        services = self._services
        home = deciding_home(event.inbound, services.settings.now.rules.settings.session)
        if not home or services.shards == 1 or shard_of(home, services.shards) == services.shard:
            return False
        with suppress(Superseded):  # it was decided meanwhile
            await self.store.write(MoveEvent(event.id, home))
        return True

    @property
    def is_recovered(self) -> bool:
        return self._recovered.is_set()

    def changed(self) -> None:
        """Something may have been written to the shard from outside."""
        self._external.changed()

    def read_again(self) -> None:
        """Facts that are cached because every message needs them may have been changed by others: reads them again with
        the next message."""
        self._external.read_again()

    def arrived(self) -> None:
        """A message was accepted in a store that other processes also write to."""
        self._external.arrived()

    # --- the end ------------------------------------------------------------------------------------

    async def drain(self, grace: float) -> None:
        """Takes nothing more, gives runs `grace` seconds to end, gives back the others, and keeps sending for a
        moment."""
        self._ending = True
        await self._recovery.stop()
        await self.lanes.drain(grace)
        await self._place.shell.stop()
        await self.outbox.drain(min(grace, SENDING))

    def kill(self) -> None:
        """The lease is lost: ends everything at once. Nothing is given back, because nothing can be written any
        more."""
        self._ending = True
        self.lanes.stop_starting()
        self._services.tasks.kill()
        self._slots.close()
        for memory in (self.conversations, self._sessions, self.turn_runner.restorer):
            memory.forget()

    def _hand_over(self, inbound: Inbound, is_left: Callable[[], bool]) -> HandoffRow:
        return HandoffRow(inbound, self._services, self._reserve, self.decide, is_left)

    def _reserve(self, event: InboxEvent) -> bool:
        """Reserves the event, so that nobody else takes it; False if it has already been taken."""
        is_free = event.id not in self._seen
        self._seen[event.id] = None
        return is_free
