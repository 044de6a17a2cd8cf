"""The chat page without a page: people at browsers of the web channel, who see what a page would show.

Rule 1: a browser always reconnects, says how far it has read, and repeats requests that were not confirmed.
Rule 2: an event that two browsers get counts as seen once; we do not look for differences between them. Messages are in
        the order of their numbers, as on a page, not in the order in which the browsers got them.
Rule 3: this personality serves nothing: the gateway is the server, at a port that is chosen beforehand.

Faults: `drop` on `event` ends the connection of the browser that gets the next event; `duplicate` on `send` sends a
request twice, like a browser that got no answer.
"""

import asyncio
import time
from contextlib import suppress
from itertools import count
from typing import Any

import aiohttp
import msgspec
from aiohttp import web
from msgspec import Struct

from rejoinder.channels.web.nouns import Message, Room
from rejoinder.channels.web.protocol import (
    PROTOCOL,
    AskHistory,
    Deleted,
    Delta,
    Done,
    Edit,
    Edited,
    FromBrowser,
    Hello,
    MakeRoom,
    Page,
    Posted,
    Press,
    React,
    Reacted,
    Refused,
    RoomMade,
    Say,
    ToBrowser,
    TypingNow,
    Welcome,
)
from rejoinder.testing.platform.personality import Personality, Stage
from rejoinder.testing.platform.truth import BOT, Call, Frame, Kind
from rejoinder.testing.ports import free_port

AGAIN_SECONDS = 0.05

_told = msgspec.json.Decoder(ToBrowser)


def personality(stage: Stage) -> Personality:
    return Browsers(stage)


class NotTaken(Exception):
    """The gateway refused a person's request; the text is the gateway's."""


class Pending(Struct):
    """A request; the same frame is sent on every connection until it is confirmed."""

    frame: FromBrowser
    done: "asyncio.Future[str]"


class Browsers:
    name = "web"

    def __init__(self, stage: Stage) -> None:
        self.truth = stage.truth
        self.faults = stage.faults
        self.clients = count(1)
        self.rooms: dict[str, str] = {}  # the names that tests use for rooms, by room id
        self.texts: dict[str, str] = {}  # every message of the bot, as it was last shown
        self._port = int(stage.options.get("port", 0)) or free_port()
        self._numbers: set[int] = set()
        self._places: dict[str, tuple[str, str]] = {}  # the chat and the author of every message
        self._here: dict[str, Browser] = {}

    def routes(self) -> list[web.RouteDef]:
        return []

    def config(self, url: str) -> str:
        return f'kind = "web"\nport = {self._port}\n'

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}/socket"

    def id_of(self, name: str) -> str:
        return name

    async def start(self, url: str) -> None:
        """A browser is opened when its person does something."""

    async def stop(self) -> None:
        await asyncio.gather(*(browser.close() for browser in self._here.values()))

    # --- what people do -----------------------------------------------------------------------------

    async def says(self, chat: str, person: str, text: str, **how: Any) -> str:
        """Returns when a gateway has confirmed it, even if gateways are killed meanwhile. `how`: fields of `Say`."""
        browser = await self._browser(person)
        room = await browser.room(chat)
        said = Say(self._client(person), room, text, **how)
        if (fault := self.faults.draw("send", chat)) is not None and fault.kind == "duplicate":
            await asyncio.gather(browser.ask(said), browser.ask(said))
        return await browser.ask(said)

    async def edits(self, chat: str, person: str, message: str, text: str) -> None:
        await (await self._browser(person)).ask(Edit(self._client(person), message, text))

    async def reacts(self, chat: str, person: str, message: str, emoji: str) -> None:
        await (await self._browser(person)).ask(React(self._client(person), message, emoji))

    async def presses(self, chat: str, person: str, message: str, label: str) -> None:
        browser = await self._browser(person)
        await browser.ask(Press(self._client(person), message, browser.choices[message, label]))

    def _client(self, person: str) -> str:
        return f"{person}-{next(self.clients)}"

    async def _browser(self, person: str) -> "Browser":
        if person not in self._here:
            self._here[person] = Browser(person, self)
        browser = self._here[person]
        await browser.welcomed.wait()
        return browser

    # --- what people see ----------------------------------------------------------------------------

    def is_new(self, seq: int) -> bool:
        if seq in self._numbers:
            return False
        self._numbers.add(seq)
        return True

    def show_message(self, message: Message, author: str) -> None:
        """A message as it is now: a new one, or more of a known one."""
        chat = self.rooms.get(message.room, message.room)
        reply_to = message.reply_to.id if message.reply_to is not None else None
        if message.id not in self._places:
            self._places[message.id] = (chat, author)
            self.texts[message.id] = message.text
            buttons = tuple(choice.label for choice in message.choices)
            frame = Frame(
                time.time(),
                chat,
                "message",
                author,
                message.id,
                message.text,
                message.thread,
                reply_to,
                buttons=buttons,
                place=message.seq,
            )
            self.truth.show(frame)
        elif self.texts[message.id] != message.text:
            self.show_text(message.id, message.text)

    def show_text(self, message: str, text: str, buttons: tuple[str, ...] = ()) -> None:
        self.texts[message] = text
        chat, author = self._places[message]
        self.truth.show(Frame(time.time(), chat, "edit", author, message, text, buttons=buttons))

    def show_sign(self, message: str, kind: Kind, text: str = "") -> None:
        self.truth.show(Frame(time.time(), self._places[message][0], kind, BOT, message, text))


class Browser:
    def __init__(self, person: str, world: Browsers) -> None:
        self.welcomed = asyncio.Event()
        self.choices: dict[tuple[str, str], str] = {}
        self._person = person
        self._world = world
        self._me = ""
        self._agents: frozenset[str] = frozenset()
        self._direct = ""
        self._seq: int | None = None
        self._journal = ""
        self._pending: dict[str, Pending] = {}
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._task = asyncio.create_task(self._live())

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def room(self, chat: str) -> str:
        """A person's name is the direct chat; the first person to write in a group creates it."""
        if chat == self._person:
            return self._direct
        known = next((id for id, name in self._world.rooms.items() if name == chat), None)
        return known or await self.ask(MakeRoom(f"room-{chat}", chat.removeprefix("#")))

    async def ask(self, frame: Say | Edit | React | Press | MakeRoom) -> str:
        pending = self._pending.setdefault(frame.client, Pending(frame, asyncio.get_running_loop().create_future()))
        await self._send(frame)
        return await asyncio.shield(pending.done)

    # --- the connection -----------------------------------------------------------------------------

    async def _live(self) -> None:
        async with aiohttp.ClientSession() as http:
            while True:
                with suppress(aiohttp.ClientError, OSError):
                    async with http.ws_connect(self._world.address, max_msg_size=0) as line:
                        await self._listen(line)
                self._socket = None
                await asyncio.sleep(AGAIN_SECONDS)

    async def _listen(self, line: aiohttp.ClientWebSocketResponse) -> None:
        hello = Hello(PROTOCOL, self._person, self._seq, self._journal)
        await line.send_str(msgspec.json.encode(hello).decode())
        async for message in line:
            if message.type is not aiohttp.WSMsgType.TEXT:
                return
            frame = _told.decode(message.data)
            if isinstance(frame, Welcome):
                await self._begin(frame, line)
            else:
                self._hear(frame)
            if (fault := self._world.faults.draw("event", self._person)) is not None and fault.kind == "drop":
                self._world.truth.note(Call(time.time(), "event", self._person, 0, "drop"))
                return

    async def _begin(self, welcome: Welcome, line: aiohttp.ClientWebSocketResponse) -> None:
        self._me, self._agents = welcome.me.id, frozenset(agent.id for agent in welcome.agents)
        for room in welcome.rooms:
            self._enter(room)
        began = self._seq is not None
        if not welcome.resumed:
            self._seq = welcome.seq
        self._journal = welcome.journal
        for message in welcome.growing:
            self._see(message)
        self._socket = line
        for pending in list(self._pending.values()):
            await self._send(pending.frame)
        if began and not welcome.resumed:  # a page forgets its state and reads everything again
            for room in welcome.rooms:
                await self._send(AskHistory(f"history-{room.id}", room.id, limit=200))
        self.welcomed.set()

    def _enter(self, room: Room) -> None:
        if room.kind == "direct":
            self._direct = self._direct or room.id
        self._world.rooms[room.id] = self._person if room.kind == "direct" else f"#{room.title.casefold()}"

    async def _send(self, frame: FromBrowser) -> None:
        if self._socket is not None:
            with suppress(aiohttp.ClientError, OSError):
                await self._socket.send_str(msgspec.json.encode(frame).decode())

    # --- frames -------------------------------------------------------------------------------------

    def _hear(self, frame: ToBrowser) -> None:
        if (seq := getattr(frame, "seq", None)) is not None:
            self._seq = max(self._seq or 0, seq)
            if not self._world.is_new(seq):
                return
        match frame:
            case RoomMade(room=room):
                self._enter(room)
            case Posted(message=message):
                self._see(message)
            case Delta(message=message, at=at, text=text):
                self._grow(frame.room, message, at, text)
            case Edited(message=message, text=text, choices=choices):
                # Even if the words are the same: it says that the message is complete, and ends the typing sign.
                self._world.show_text(message, text, buttons=tuple(choice.label for choice in choices))
            case Deleted(message=message):
                self._world.show_sign(message, "delete")
            case Reacted(message=message, reactions=reactions):
                ours = [each.emoji for each in reactions if not each.who or {*each.who} - {self._me}]
                self._world.show_sign(message, "reaction", "".join(ours))
            case TypingNow(room=room, who=who) if who in self._agents or not who:
                chat = self._world.rooms.get(room, room)
                self._world.truth.show(Frame(time.time(), chat, "typing", thread=frame.thread))
            case Page(messages=messages):
                for message in messages:
                    self._see(message)
            case Done(client=client, id=id):
                self._settle(client).set_result(id)
            case Refused(client=client, reason=reason):
                self._settle(client).set_exception(NotTaken(reason))
            case _:
                pass  # the person's own read marks, notes for the operator

    def _see(self, message: Message) -> None:
        for choice in message.choices:
            self.choices[message.id, choice.label] = choice.says
        by_bot = not message.author or message.author in self._agents
        self._world.show_message(
            message, BOT if by_bot else self._person if message.author == self._me else message.author
        )

    def _grow(self, room: str, message: str, at: int, text: str) -> None:
        had = self._world.texts.get(message, "")
        length = len(had.encode("utf-16-le")) // 2
        if length == at:
            self._world.show_text(message, had + text)
        elif length < at:  # the browser missed something; a page reads the message again
            ask = AskHistory(f"around-{message}", room, around=message, limit=1)
            self._asking = asyncio.create_task(self._send(ask))

    def _settle(self, client: str) -> "asyncio.Future[str]":
        pending = self._pending.pop(client, None)
        return pending.done if pending is not None else asyncio.get_running_loop().create_future()
