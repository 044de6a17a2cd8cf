"""A browser without a network: speaks frames with the channel, and remembers all it was told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from secrets import token_urlsafe
from typing import Any

import msgspec

from rejoinder.channels.web.avatars import agent_member
from rejoinder.channels.web.browser_session import BrowserSession, WelcomeFacts
from rejoinder.channels.web.channel import WebChannel
from rejoinder.channels.web.nouns import Room
from rejoinder.channels.web.protocol import Command
from rejoinder.channels.web.sockets import BrowserConnection
from rejoinder.events import Inbound
from rejoinder.room_log import ChannelStorage
from rejoinder.runtime.place.room_log import ChannelLog
from rejoinder.store.base import Accept, RecordChanges
from rejoinder.store.blob_keeper import StoredBlobs
from rejoinder.store.sqlite.store import SqliteStore, open_store
from rejoinder.testing.patience import PATIENCE

NOW = datetime(2030, 1, 2, tzinfo=UTC)
GREETING = WelcomeFacts("test", 1000)


async def commands(person: str, rooms: tuple[Room, ...]) -> tuple[Command, ...]:
    return (Command("help", "Shows help."),)


class Inbox:
    """The gateway's side: a real store, in which what came is kept with what the log says of it."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.got: list[Inbound] = []

    async def record(self, change: RecordChanges, *messages: Inbound) -> int:
        events, first = await self.store.write(Accept(messages, NOW), change)
        self.got += [event.inbound for event in events]
        return first


class Opened(WebChannel):
    """A channel with a store of its own."""

    inbox: Inbox

    @property
    def got(self) -> list[Inbound]:
        """What the gateway was given."""
        return self.inbox.got

    async def close(self) -> None:
        await super().close()
        await self.inbox.store.close()


async def a_channel(
    store: str | SqliteStore = "sqlite::memory:", agents: tuple[str, ...] = ("helper", "coder")
) -> Opened:
    ticks = iter(range(1_700_000_000_000, 1_800_000_000_000))
    channel = Opened("web", tuple(agent_member(agent) for agent in agents), lambda: next(ticks))
    inbox = channel.inbox = Inbox(open_store(store) if isinstance(store, str) else store)
    log = ChannelLog("web", inbox.record, inbox.store, lambda: NOW)
    await channel.use_store(ChannelStorage(log, StoredBlobs(inbox.store, lambda: NOW, lambda: token_urlsafe(18))))
    return channel


class Browser:
    def __init__(self, channel: WebChannel) -> None:
        self.frames: list[dict[str, Any]] = []
        self.closed: int | None = None
        self.connection: BrowserConnection | None = None
        self._talk = BrowserSession(channel.journal, channel.hub, GREETING, commands)
        self._channel = channel
        self._out: asyncio.Queue[str | None] = asyncio.Queue()
        self._news = asyncio.Condition()
        self._requests = count(1)

    async def run(self) -> None:
        greeted = await self._talk.greet(self._out.get)
        if isinstance(greeted, int):
            self.closed = greeted
            async with self._news:
                self._news.notify_all()
            return
        self.connection = greeted
        async with asyncio.TaskGroup() as group:
            writer = group.create_task(self._write(greeted))
            await self._talk.hear(greeted, self._out.get)
            greeted.close(1000)
            await writer
        self._channel.hub.leave(greeted)

    async def _write(self, connection: BrowserConnection) -> None:
        self.closed = await connection.write(self._take)
        self._out.put_nowait(None)
        async with self._news:
            self._news.notify_all()

    async def _take(self, frame: str) -> None:
        async with self._news:
            self.frames.append(msgspec.json.decode(frame))
            self._news.notify_all()

    def send(self, **frame: Any) -> None:
        self._out.put_nowait(msgspec.json.encode(frame).decode())

    def raw(self, text: str) -> None:
        self._out.put_nowait(text)

    def leave(self) -> None:
        self._out.put_nowait(None)

    async def ask(self, type: str, **frame: Any) -> dict[str, Any]:
        """Sends a request and waits for its answer: `done`, `refused` or `page`."""
        client = frame.pop("client", f"request-{id(self)}-{next(self._requests)}")
        before = len(self.frames)
        self.send(type=type, client=client, **frame)
        return await self.told("done", "refused", "page", since=before, client=client)

    async def told(self, *types: str, since: int = 0, **fields: Any) -> dict[str, Any]:
        def found() -> list[dict[str, Any]]:
            return [
                frame
                for frame in self.frames[since:]
                if frame["type"] in types and all(frame.get(key) == value for key, value in fields.items())
            ]

        try:
            async with asyncio.timeout(PATIENCE), self._news:
                await self._news.wait_for(lambda: bool(found()) or self.closed is not None)
        except TimeoutError:
            raise AssertionError(f"waited for {types} {fields}; was told: {self.frames}") from None
        assert found(), f"closed with {self.closed} before {types} {fields}; was told: {self.frames}"
        return found()[0]

    async def is_closed(self) -> int:
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: self.closed is not None)
        assert self.closed is not None
        return self.closed

    @property
    def seq(self) -> int:
        return max([frame.get("seq", 0) for frame in self.frames], default=0)

    @property
    def journal(self) -> str:
        return next(frame["journal"] for frame in self.frames if frame["type"] == "welcome")

    def shown(self, room: str) -> dict[str, str]:
        """What a page that follows the protocol shows in a room: text by message."""
        texts: dict[str, str] = {}
        for frame in self.frames:
            match frame:
                case {"type": "welcome", "growing": growing}:
                    texts |= {message["id"]: message["text"] for message in growing if message["room"] == room}
                case {"type": "message", "message": {"room": place, "id": id, "text": text}} if place == room:
                    texts[id] = text
                case {"type": "delta", "message": id, "at": at, "text": text} if id in texts:
                    assert len(texts[id].encode("utf-16-le")) // 2 == at
                    texts[id] += text
                case {"type": "edited", "message": id, "text": text} if id in texts:
                    texts[id] = text
                case {"type": "deleted", "message": id}:
                    texts.pop(id, None)
                case _:
                    pass
        return texts


@asynccontextmanager
async def browsers(channel: WebChannel, *names: str, **hello: Any) -> AsyncIterator[list[Browser]]:
    """Opens the page once for each name, and waits until everybody was welcomed."""
    opened = [Browser(channel) for _ in names]
    async with asyncio.TaskGroup() as group:
        for browser, name in zip(opened, names, strict=True):
            group.create_task(browser.run())
            browser.send(type="hello", protocol=1, name=name, **hello)
            await browser.told("welcome")
        yield opened
        for browser in opened:
            browser.leave()
