"""A conversation on a fake platform over a store in memory, without the rest of the gateway."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from secrets import token_urlsafe
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from rejoinder.channels.base import CanEdit, CanStream
from rejoinder.channels.telegram import CHANNEL
from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.inbound.rules import make_rules
from rejoinder.inbound.settings import InboundSettings
from rejoinder.outbound.draft import Streaming
from rejoinder.rendering import RenderOptions
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.answer.delivery import StreamedAnswer
from rejoinder.runtime.answer.options import AnswerOptions
from rejoinder.runtime.live import Live
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.outbox.owners import OwnerChats
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.unconfirmed_notice import ASK_AGAIN
from rejoinder.runtime.settings import ChannelFacts, DeliveryOptions, RuntimeSettings
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import Accept, BeginTurn, Destination, IndexedMessage, NoteMessages, RouteEvent
from rejoinder.store.blob_keeper import StoredBlobs
from rejoinder.store.sqlite.store import open_store

ALL = frozenset({"reply", "react", "send", "ephemeral", "silent", "previews"})


async def ask_again(_turn):
    return ASK_AGAIN


class Place:
    """Everything a sender needs, and a clock that can be moved."""

    def __init__(self, channel, store, tasks, delivery: DeliveryOptions):
        self.channel = channel
        self.store = store
        self.tasks = tasks
        self.blobs = StoredBlobs(store, self.now, lambda: token_urlsafe(18))
        self.route = Route(channel.name, "room")
        self.ahead = timedelta()
        self.told = []
        options = replace(delivery.options, limit=channel.limits.length, unit=channel.limits.unit)
        self.facts = ChannelFacts(can=ALL, delivery=replace(delivery, options=options))
        self.restart()

    def restart(self):
        """A new process on the same store: nothing is remembered but what the store knows."""
        settings = RuntimeSettings(rules=make_rules(InboundSettings()), channels={self.channel.name: self.facts})
        hooks: Any = SimpleNamespace(
            tell=lambda each, **_: self.told.append(each), kept=lambda _: (), wants=lambda _: True
        )
        channels = {self.channel.name: self.channel}
        self.services = services = Services(
            agents={},
            channels=channels,
            store=self.store,
            tasks=self.tasks,
            settings=Live(settings),
            clock=self.now,
            hooks=hooks,
            blobs=self.blobs,
        )
        self.outbox = Outbox(services, OwnerChats(services), ask_again)
        self.conversation = Conversation(self.route, services, self.outbox)
        self.sender = self.conversation.sender

    def now(self):
        return datetime.now(UTC) + self.ahead

    async def turn(self, text="hello", message="id-0"):
        """Somebody writes, and a turn begins; the claim on it."""
        inbound = Inbound(self.channel.name, f"e-{message}", message, Chat("room"), Sender("ann"), text)
        (event,) = await self.store.write(Accept((inbound,), self.now()))
        noted = NoteMessages(self.route, (IndexedMessage(message, "ann", self.now(), text=text),))
        _, begun, messages = await self.store.write(
            RouteEvent(event.id, (Destination("s"),)),
            BeginTurn("s", self.route, (event.id,), self.now()),
            noted,
        )
        self.conversation.add_to_index(messages)
        return begun

    def answer(self, run=None, *, earlier=(), context=None, **options) -> StreamedAnswer:
        how = AnswerOptions(run=run, earlier=earlier, **options)
        return StreamedAnswer(self.conversation, context or AnswerContext("id-0", "bot", "ann"), how)

    async def says(self, *pieces, run=None, **options) -> StreamedAnswer:
        answer = self.answer(run, **options)
        for piece in pieces:
            await answer.feed(piece)
        await answer.finish()
        return answer

    async def begins(self, work):
        """Starts it, and waits until nothing more can be done for it now."""
        task = asyncio.ensure_future(work)
        await asyncio.sleep(0)
        await self.rests()
        return task

    async def rests(self):
        await self.tasks.idle()

    async def states(self, run) -> list[tuple[str, str]]:
        turn = await self.store.turn(run.turn)
        return [(part.kind, part.state) for part in turn.parts]

    def seen(self) -> list[str]:
        return [m.text for m in self.channel.messages.values() if m.author == "bot" and not m.deleted]


@asynccontextmanager
async def place(channel, **delivery) -> AsyncGenerator[Place]:
    delivery.setdefault(
        "streaming", Streaming("edits" if isinstance(channel, CanEdit | CanStream) else "off", pace=0.0)
    )
    delivery.setdefault("options", RenderOptions(CHANNEL.renderer))
    store = open_store("sqlite::memory:")
    try:
        async with Tasks() as tasks:
            yield Place(channel, store, tasks, DeliveryOptions(**delivery))
    finally:
        await store.close()
