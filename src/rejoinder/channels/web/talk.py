"""One browser's conversation with the channel, from `hello` to the end: independent of how frames travel."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal, assert_never

import msgspec
from msgspec import Struct

from rejoinder.channels.web import reading
from rejoinder.channels.web.faces import OWNER, owner_named, person_named
from rejoinder.channels.web.journal import Journal, NotDone
from rejoinder.channels.web.keeper import Keeper
from rejoinder.channels.web.nouns import Member, Person, Room
from rejoinder.channels.web.protocol import (
    PROTOCOL,
    AskHistory,
    Command,
    Delete,
    Done,
    Edit,
    FromBrowser,
    Hello,
    MakeRoom,
    MarkRead,
    Page,
    Ping,
    Pong,
    Posted,
    Press,
    React,
    Refused,
    Say,
    Search,
    StillTyping,
    Stop,
    TypingNow,
    Welcome,
    client_of,
    decode,
    encode,
)
from rejoinder.channels.web.sockets import BROKEN, LOGGED_OUT, OTHER_PROTOCOL, TRY_LATER, Connection, Hub
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable

HELLO_SECONDS = 20.0
MOST_MISTAKES = 20

Receive = Callable[[], Awaitable[str | None]]
"""The next frame; None when the browser is gone."""


class Greeting(Struct, frozen=True):
    """What is the same in every `welcome`."""

    version: str
    commands: tuple[Command, ...]
    upload_limit: int
    wake: str = "lead"


class _Found(Struct, frozen=True):
    journal: str
    seq: int
    rooms: tuple[Room, ...]
    people: tuple[Member, ...]
    since: int
    """The last event that the browser has, or (if it starts afresh) that the journal has."""
    missed: list[tuple[int, str]] | None


class Talk:
    def __init__(self, keeper: Keeper, hub: Hub, greeting: Greeting) -> None:
        self._keeper = keeper
        self._hub = hub
        self._greeting = greeting

    async def greet(self, receive: Receive, login: Person | None = None) -> Connection | int:
        """Waits for `hello` and adds the browser to the hub, or returns the close code if it cannot.

        `login`: whose login the browser has; its person is the one at the browser, whatever name it says. Without a
        login people say themselves who they are: no name is the owner, and no name makes one the owner.
        """
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                text = await receive()
            hello = decode(text) if text is not None else None
        except (TimeoutError, msgspec.DecodeError):
            return BROKEN
        if not isinstance(hello, Hello):
            return BROKEN
        if hello.protocol != PROTOCOL:
            return OTHER_PROTOCOL
        if login is not None and login.id in self._keeper.journal.agents:
            return LOGGED_OUT  # an agent has been given this id since: they are invited again under another name
        person = self._who(hello.name, login)
        known_by = "name" if login is None else "login"
        try:
            me = await self._keeper.change(Journal.arrive, person)
            connection = Connection(person.id)
            await self._keeper.ask_then(
                lambda journal: self._find(journal, person.id, hello),
                lambda found: self._welcome(connection, me, known_by, found),
            )
        except StoreUnavailable:
            return TRY_LATER
        return connection

    def _who(self, name: str, login: Person | None) -> Person:
        if login is not None and login.id != OWNER:
            return login
        if login is not None or name == "":
            return owner_named(name)
        return person_named(name, self._keeper.journal.agents)

    @staticmethod
    def _find(journal: Journal, person: str, hello: Hello) -> _Found:
        missed = None
        if hello.seq is not None and hello.journal == journal.id and hello.seq <= journal.seq:
            missed = reading.missed(journal.db, person, hello.seq)
        rooms = reading.rooms(journal.db, person, journal.agents)
        since = hello.seq if missed is not None and hello.seq is not None else journal.seq
        return _Found(journal.id, journal.seq, rooms, reading.people(journal.db), since, missed)

    def _welcome(self, connection: Connection, me: Member, known_by: Literal["name", "login"], found: _Found) -> None:
        """Welcomes and joins in one step, so that the next event told is the first one not in `found`."""
        growing = self._hub.seen_growing(me.id)
        # A growing message that the browser has missed comes in its place below, after what was said before it.
        known = tuple(each.snapshot for each in growing if each.message.seq <= found.since)
        connection.tell(
            Welcome(
                PROTOCOL,
                self._greeting.version,
                found.journal,
                found.seq,
                found.missed is not None,
                me,
                self._keeper.agents,
                found.people,
                found.rooms,
                self._greeting.commands,
                known,
                self._greeting.upload_limit,
                self._greeting.wake,
                known_by,
            )
        )
        begun = {each.message.seq: each for each in growing}
        for seq, frame in found.missed or ():
            snapshot = begun.get(seq)
            connection.put(frame if snapshot is None else encode(Posted(seq, snapshot.snapshot)).decode())
        self._hub.join(connection)

    async def hear(self, connection: Connection, receive: Receive) -> None:
        """Does what the browser asks, in order, until it is gone."""
        mistakes = 0
        while connection.closed is None and (text := await receive()) is not None:
            try:
                frame = decode(text)
            except msgspec.DecodeError as problem:
                mistakes += 1
                connection.tell(Refused(client_of(text), f"This is no frame of the protocol: {problem}."))
                if mistakes >= MOST_MISTAKES:
                    connection.close(BROKEN)
                continue
            try:
                await self._do(connection, frame)
            except NotDone as refusal:
                connection.tell(Refused(getattr(frame, "client", ""), str(refusal)))
            except StoreUnavailable:
                connection.close(TRY_LATER)  # nothing was confirmed, so the browser sends it again

    async def _do(self, connection: Connection, frame: FromBrowser) -> None:
        me, change = connection.person, self._keeper.change
        match frame:
            case Say(client, room, text, thread, reply_to, files):
                id = await change(Journal.say, me, client, room, text, thread, reply_to, files)
            case Edit(client, message, text):
                id = await change(Journal.edit_own, me, client, message, text)
            case Delete(client, message):
                id = await change(Journal.delete_own, me, client, message)
            case React(client, message, emoji, remove):
                id = await change(Journal.react_as, me, client, message, emoji, remove)
            case Stop(client, room, thread):
                id = await change(Journal.stop, me, client, room, thread)
            case Press(client, message, says):
                id = await change(Journal.press, me, client, message, says)
            case MakeRoom(client, title, agents):
                id = await change(Journal.make_room, me, client, title, agents)
            case MarkRead(room, seq):
                return await change(Journal.mark_read, me, room, seq)
            case StillTyping(room, thread):
                return await self._typing(me, room, thread)
            case AskHistory():
                return await self._history(connection, frame)
            case Search():
                return await self._search(connection, frame)
            case Ping():
                return connection.tell(Pong())
            case Hello():
                raise NotDone("This browser has said hello already.")
            case _:
                assert_never(frame)
        crashpoint("K1")
        connection.tell(Done(client, id))

    async def _typing(self, me: str, room: str, thread: str | None) -> None:
        place = await self._keeper.ask(reading.place, room)
        if place is not None and place[1] in (None, me):
            self._hub.show(TypingNow(room, me, thread), place[1], but=me)

    async def _history(self, connection: Connection, asked: AskHistory) -> None:
        me = connection.person
        if not await self._keeper.ask(reading.is_open_to, asked.room, me):
            raise NotDone("This room is not there.")

        def find(journal: Journal) -> tuple[tuple[reading.Message, ...], bool]:
            if asked.around is not None:
                return reading.around(journal.db, me, asked.around, asked.limit)
            return reading.history(journal.db, me, asked.room, asked.thread, asked.before, asked.limit)

        await self._keeper.ask_then(find, lambda found: self._page(connection, asked.client, *found))

    def _page(self, connection: Connection, client: str, messages: tuple[reading.Message, ...], more: bool) -> None:
        connection.tell(Page(client, tuple(map(self._hub.as_it_stands, messages)), more))

    async def _search(self, connection: Connection, asked: Search) -> None:
        messages, more = await self._keeper.ask(
            reading.search, connection.person, asked.query, asked.room, asked.before, asked.limit
        )
        connection.tell(Page(asked.client, messages, more))
