"""Waits while a sender is still typing (IN-76); `inbound.debounce` says which messages are decided together."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from rejoinder.events import Inbound
from rejoinder.inbound.debounce import DebounceRow, flushes, view, waits_for
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.finalise import finalise, undecided_message
from rejoinder.inbound.outcome import Continue
from rejoinder.runtime.services import Services
from rejoinder.store.base import InboxEvent


class Debounce:
    """`go_on` is called with each group, in the order in which their waits end."""

    def __init__(self, services: Services, go_on: Callable[..., object]) -> None:
        self._settings = services.settings
        self._tasks = services.tasks
        self._clock = services.clock
        self._go_on = go_on
        self._waiting: dict[str, dict[str, tuple[DebounceRow, InboxEvent]]] = {}  # by channel and row
        self._looking: dict[str, asyncio.Task[None]] = {}

    def waits(self, channel: str) -> bool:
        """Whether messages of this channel are held back at all."""
        debounce = self._settings.now.rules.settings.debounce
        return bool(debounce.by_channel.get(channel, debounce.debounce_ms))

    def take(self, event: InboxEvent, me: OwnIdentity) -> None:
        inbound = event.inbound
        now = self._clock()
        key = f"{inbound.account}/{inbound.chat.id}/{inbound.thread}/{inbound.sender.id}"
        row = DebounceRow(f"{inbound.account}/{inbound.event_id}", key, now, self._flushes(inbound, me, now))
        self._waiting.setdefault(inbound.channel, {})[row.id] = (row, event)
        self._look(inbound.channel)

    def _flushes(self, inbound: Inbound, me: OwnIdentity, now: datetime) -> bool:
        read = finalise(undecided_message(inbound, Facts(me)), None, self._settings.now.rules, now)
        message = read.message if isinstance(read, Continue) else None
        return message is None or flushes(message)  # an event that is not a message has nothing to wait for

    def _look(self, channel: str) -> None:
        waiting, now = self._waiting[channel], self._clock()
        wait = waits_for(self._settings.now.rules.settings.debounce, channel)
        seen = view([row for row, _ in waiting.values()], wait, now)
        if task := self._looking.pop(channel, None):
            task.cancel()
        for group in seen.ready:
            self._go_on(*(waiting.pop(row.id)[1] for row in group))
        if seen.look_again is not None:
            seconds = (seen.look_again - now).total_seconds()
            self._looking[channel] = self._tasks.start(f"debounce:{channel}", self._look_after(seconds, channel))

    async def _look_after(self, seconds: float, channel: str) -> None:
        await asyncio.sleep(seconds)
        del self._looking[channel]  # this is the current task, and `_look` must not cancel it
        self._look(channel)
