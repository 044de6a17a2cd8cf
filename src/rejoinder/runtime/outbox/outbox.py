"""All senders of a gateway, and changes to parts from outside: after a restart, by an owner, by hand."""

import asyncio
from collections.abc import Callable, Iterable
from itertools import count
from weakref import WeakValueDictionary

from msgspec.structs import replace

from rejoinder.blobs import Blobs
from rejoinder.channels.base import CanSendFiles, Channel, FileLimits, LimitsFilesByPlace
from rejoinder.events import Route
from rejoinder.outbound.operations import decode, words
from rejoinder.runtime.abilities import can
from rejoinder.runtime.account_pace import AccountPace
from rejoinder.runtime.outbox.delivery_failures import DeliveryFailures, Sentence
from rejoinder.runtime.outbox.messages import MessageIndex
from rejoinder.runtime.outbox.owners import OwnerChats
from rejoinder.runtime.outbox.sender import ConversationSender
from rejoinder.runtime.services import Services
from rejoinder.runtime.serving import serving
from rejoinder.runtime.settings import DeliveryOptions
from rejoinder.store.base import PartState, StoredPart

CALLS = 5.0
"""Seconds to wait for calls under way once nothing more is sent."""


class Outbox:
    """`owners` and `sentence`: who is told of messages that may not have arrived, and what the person in the chat is
    told."""

    def __init__(self, services: Services, owners: OwnerChats, sentence: Sentence) -> None:
        self._services = services
        self._channels = services.channels
        self._store = services.store
        self._clock = services.clock
        self._count = count(1)
        self._failures = DeliveryFailures(services, owners, sentence, self.wake, self.new_stem)
        self._senders: WeakValueDictionary[Route, ConversationSender] = WeakValueDictionary()

    def at(self, route: Route) -> ConversationSender:
        """The one sender of this conversation; it lives as long as it is referenced or has work to do."""
        sender = self._senders.get(route)
        if sender is None:
            sender = ConversationSender(route, self._account(route), self._services, self._failures, self._index_at)
            self._senders[route] = sender
        return sender

    def _index_at(self, route: Route) -> MessageIndex | None:
        """The message index of another place, if it is in memory."""
        there = self._senders.get(route)
        return None if there is None else there.messages

    def new_stem(self) -> str:
        """A key prefix for parts that belong to no turn; it is unique, also across processes."""
        return f"g{int(self._clock().timestamp() * 1e6):x}-{next(self._count)}"

    def serving(self, route: Route) -> Channel | None:
        return serving(self._channels, route) if route.channel in self._channels else None

    def delivery(self, channel: str) -> DeliveryOptions | None:
        """How to send on this channel; None if there is no such channel."""
        return self._services.settings.now.channel(channel).delivery if channel in self._channels else None

    @property
    def blobs(self) -> Blobs:
        return self._services.blobs

    def file_limits(self, channel: CanSendFiles, route: Route) -> FileLimits:
        """The limits for files in this place: the platform's and the operator's."""
        limits = channel.file_limits_at(route) if can(channel, LimitsFilesByPlace) else channel.file_limits
        most = self._services.settings.now.max_file_bytes
        return limits if limits.size <= most else replace(limits, size=most)

    def _account(self, route: Route) -> AccountPace:
        def make(changed: Callable[[], None]) -> AccountPace:
            delivery = self._services.settings.now.channel(route.channel).delivery
            return AccountPace(serving(self._channels, route), delivery.account_rate, delivery.chat_rate, changed)

        return self._services.accounts.of(route.channel, route.account, make)

    # --- from outside -------------------------------------------------------------------------------

    def wake(self, route: Route) -> None:
        """The store has parts for this route that its sender did not plan: after a restart, from the console or from
        `rejoinder dead`."""
        if route.channel in self._channels:
            self.at(route).wake(rows=True)

    async def recover(self, unknown: Iterable[StoredPart], to_send: Iterable[Route]) -> None:
        """Continues where the last process ended: first the parts that may have arrived, then the others (DU-13)."""
        await self._failures.read()
        for row in unknown:
            if row.route.channel in self._channels:
                self.at(row.route).settle(row)
        for route in to_send:
            self.wake(route)

    def said(self, parts: tuple[StoredPart, ...]) -> str:
        """What people have read of these parts, without drafts and parts that were given up (DU-2)."""
        return "\n\n".join(words(decode(part.body)) for part in parts if part.kind == "say" and part.state == "sent")

    async def resend(self, route: Route | None, *states: PartState) -> int:
        """Sends parts again that were not confirmed or were given up, here or (None) everywhere; returns how many."""
        by_place: dict[Route, list[StoredPart]] = {}
        for row in await self._store.parts_in(*(states or ("held", "dead"))):
            if route in (None, row.route) and row.route.channel in self._channels:
                by_place.setdefault(row.route, []).append(row)
        return sum([await self.at(place).resend(rows) for place, rows in by_place.items()])

    def trouble(self, channel: str, account: str | None = None) -> str:
        """Why the platform refuses an account of this channel; empty if it does not (DE-32)."""
        here = (each for (name, of), each in self._services.accounts if name == channel and account in (None, of))
        return next((each.trouble for each in here if each.trouble), "")

    async def drain(self, seconds: float) -> None:
        """Shuts down cleanly: sends for `seconds`, then begins no further call and waits for those under way."""
        await self._end_work(seconds)
        self._services.gate.shut()
        await self._end_work(CALLS)

    async def _end_work(self, seconds: float) -> None:
        if working := [sender.work for sender in self._senders.values() if sender.work is not None]:
            await asyncio.wait(working, timeout=seconds)
