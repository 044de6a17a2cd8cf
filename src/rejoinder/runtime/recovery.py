"""After a shard is claimed, finishes everything that was accepted in it, in order and not all at once (SC-4, TU-10).

This is the same after a start, after kill -9 and when a shard moves from one process to another. external_changes.py
finds what others write later.

Rule 1: everything is in its queue before a new message is taken, so none can overtake it.
Rule 2: no decision is made twice: a routed message continues as it was decided.
Rule 3: an attempt is counted before it is made, and a crash makes suspects of all that was under way (DU-2). Turns that
        were under way in two crashes run one at a time (slots.py, `turns.suspicion`). Events that were tried before are
        decided one at a time, before any turn runs. Something is quarantined only if the process died three times while
        it was the only thing under way. An orderly stop makes no suspects.
Rule 4: rows that are damaged, or in the format of another version, are quarantined (quarantine.py). In a shared store,
        rows with a format, agent or channel unknown here are left to other processes (SC-25).
"""

import asyncio
import logging
from contextlib import suppress

from rejoinder.channels.base import EndsAbandonedMessages
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import LeaseLost, StoreUnavailable, Unreadable
from rejoinder.runtime.abilities import can
from rejoinder.runtime.external_changes import EventEntry
from rejoinder.runtime.open_turns import OpenTurns
from rejoinder.runtime.outbox.offers import close_left_open
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.session.parts import SessionParts
from rejoinder.runtime.session.questions import RESTARTED
from rejoinder.store.base import CountEventAttempts, InboxEvent, RecoveryRows, TakeBackEventAttempts
from rejoinder.turns.suspicion import MOST_ALONE

log = logging.getLogger(__name__)

AT_ONCE = 200


class Recovery:
    def __init__(self, parts: SessionParts, outbox: Outbox, entry: EventEntry, over: asyncio.Event) -> None:
        services = parts.services
        self._store = services.store
        self._is_shared = services.is_shared
        self._channels = services.channels
        self._tasks = services.tasks
        self._clock = services.clock
        self._parts = parts
        self._outbox = outbox
        self._entry = entry
        self._open_turns = OpenTurns(parts, outbox)
        self._tried: list[int] = []  # the events that recovery itself is deciding
        self._stopped = False
        self._over = over

    async def run(self) -> None:
        """Returns when everything is queued or under way."""
        parts = self._parts
        found = await self._store.recover(self._clock())
        crashpoint("K25")
        for name, channel in self._channels.items():
            if can(channel, EndsAbandonedMessages):
                await channel.end_abandoned_messages(await self._store.log_growing(name))
        await self._outbox.recover(found.unknown, found.to_send)
        await parts.questions.recall()
        for unread in found.unread:
            if self._is_shared and unread.of_another_version:
                what = "%s: the %s of message %s is left to other processes: %s"
                log.warning(what, unread.where, unread.kind, unread.message, unread.why)
            elif unread.kind == "subagent":
                await parts.subagents.write_off(unread.where, unread.root, unread.why)
            else:
                await parts.queue.quarantine.put_unread(unread)
        events = [event for event in found.events if not await self._entry.move(event)]
        events = tuple([event for event in events if self._can_be_decided(event)])
        if any(event.attempts for event in events):
            parts.queue.slots.pause()
        try:
            await self._open_turns.resume(found.turns)
            expired = await parts.questions.keep_of(self._open_turns.resumed)
            await close_left_open(self._store, self._outbox, RESTARTED, expired)
            await self._queue(found)
            await self._decide(events)
        finally:
            parts.queue.slots.resume()
        self._over.set()

    async def _queue(self, found: RecoveryRows) -> None:
        for backlog in found.backlogs:
            try:
                await self._parts.queue.backlogs.queue(backlog)
            except Unreadable as problem:
                log.error("%s: the queued messages stay queued: %s", backlog.session, problem)

    async def stop(self) -> None:
        """The gateway shuts down: takes back the attempts counted for undecided events."""
        self._stopped = True
        tried, self._tried = tuple(self._tried), []
        if tried:
            with suppress(StoreUnavailable, LeaseLost):  # a new owner has taken the attempts back already
                await self._store.write(TakeBackEventAttempts(tried))

    # --- what was accepted and not decided --------------------------------------------------------

    def _can_be_decided(self, event: InboxEvent) -> bool:
        inbound = event.inbound
        if not self._parts.conversations.has(inbound.channel):
            log.warning("%s is no longer configured: message %s waits until it is", inbound.channel, inbound.message_id)
            return False
        return True

    async def _decide(self, events: tuple[InboxEvent, ...]) -> None:
        if not any(event.attempts for event in events):
            for start in range(0, len(events), AT_ONCE):
                if self._stopped:
                    return
                await self._try(*events[start : start + AT_ONCE])
            for event in events:
                self._entry.take(event)
            return
        await self._parts.queue.slots.tried.wait()
        for event in events:
            if self._stopped:
                return
            if event.alone >= MOST_ALONE:
                await self._parts.queue.quarantine.put_event(event)
            else:
                await self._try(event)
                await self._tasks.wait(self._entry.decide(event))

    async def _try(self, *events: InboxEvent) -> None:
        ids = tuple(event.id for event in events)
        self._tried += ids
        await self._store.write(CountEventAttempts(ids))
