"""One browser's conversation with the channel, from `hello` to the end: independent of how frames travel."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, assert_never

import msgspec
from msgspec import Struct

from rejoinder.channels.web import reading
from rejoinder.channels.web.avatars import OWNER, owner_named, person_named
from rejoinder.channels.web.journal import InvalidRequest, RoomJournal
from rejoinder.channels.web.nouns import Member, Message, Person, Room, Subagent, SubagentLine
from rejoinder.channels.web.protocol import (
    PROTOCOL,
    AskHistory,
    AskSubagentLog,
    AskSubagents,
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
    SubagentLog,
    Subagents,
    TypingNow,
    Welcome,
    client_of,
    decode,
    encode,
)
from rejoinder.channels.web.records import PEOPLE, BrowserEvent, browser_event
from rejoinder.channels.web.sockets import BROKEN, LOGGED_OUT, OTHER_PROTOCOL, TRY_LATER, BrowserConnection, Hub
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable

HELLO_SECONDS = 20.0
EVER = range(2**53)
"""Numbers that an event may have; JavaScript cannot count further."""
MOST_MISTAKES = 20

Receive = Callable[[], Awaitable[str | None]]
"""The next frame; None when the browser is gone."""


class WelcomeFacts(Struct, frozen=True):
    """The part that is the same in every `welcome`."""

    version: str
    upload_limit: int
    wake: str = "lead"


CommandsFor = Callable[[str, tuple[Room, ...]], Awaitable[tuple[Command, ...]]]
"""All commands, with where this person, who sees these rooms, may not use them."""


class KnowsSubagents(Protocol):
    """Knows the sub-agents of a room, and shows each person those that they may see."""

    async def listed(self, room: Room, person: str) -> tuple[Subagent, ...]: ...

    async def log(self, room: Room, person: str, subagent: str) -> tuple[tuple[SubagentLine, ...], bool] | None:
        """The latest lines of its log, and whether there are earlier ones; None: this person can see no such run."""
        ...


class BrowserSession:
    def __init__(
        self,
        journal: RoomJournal,
        hub: Hub,
        greeting: WelcomeFacts,
        commands: CommandsFor,
        subagents: KnowsSubagents | None = None,
    ) -> None:
        self._journal = journal
        self._hub = hub
        self._greeting = greeting
        self._commands = commands
        self._subagents = subagents

    async def greet(self, receive: Receive, login: Person | None = None) -> BrowserConnection | int:
        """Waits for `hello` and adds the browser to the hub, or returns the close code if it cannot.

        `login`: the person whose login the browser has, whatever name it sends. Without a login, people say themselves
        who they are: a person without a name is the owner, and no name that a person types is the owner's.
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
        if login is not None and login.id in self._journal.agents:
            return LOGGED_OUT  # an agent has this id now, so the person has to be invited again under another name
        person = self._who(hello.name, login)
        connection = BrowserConnection(person.id)
        try:
            me = await self._journal.arrive(person)
            await self._welcome(connection, me, hello, "name" if login is None else "login")
        except StoreUnavailable:
            self._hub.leave(connection)
            return TRY_LATER
        return connection

    def _who(self, name: str, login: Person | None) -> Person:
        if login is not None and login.id != OWNER:
            return login
        if login is not None or name == "":
            return owner_named(name)
        return person_named(name, self._journal.agents)

    async def _welcome(
        self, connection: BrowserConnection, me: Member, hello: Hello, known_by: Literal["name", "login"]
    ) -> None:
        """Sends the welcome. Events that happen while the rooms are read are held back and sent after it, unless it
        contains them already."""
        log = self._journal.log
        connection.hold()
        self._hub.join(connection)
        is_known = hello.journal == self._journal.id and hello.seq is not None and hello.seq in EVER
        since = hello.seq if is_known else None
        found = await log.overview(me.id, since, reading.MOST_RESUMED)
        rooms = reading.rooms(found.rooms, self._journal.agents)
        commands = await self._commands(me.id, rooms)
        people = await reading.people(log, PEOPLE)  # last: includes people who joined meanwhile
        resumed = found.missed is not None and since is not None and since <= found.state.seq
        growing = self._hub.seen_growing(me.id)
        # A growing message that the browser has missed is sent below, in its place among the other messages.
        last = since if resumed and since is not None else found.state.seq
        connection.tell(
            Welcome(
                PROTOCOL,
                self._greeting.version,
                self._journal.id,
                found.state.seq,
                resumed,
                me,
                self._journal.members,
                people,
                rooms,
                commands,
                tuple(each.snapshot for each in growing if each.message.seq <= last),
                self._greeting.upload_limit,
                self._greeting.wake,
                known_by,
            )
        )
        missed = [browser_event(event) for event in found.missed or ()] if resumed else []
        missed += [event for event in connection.held() if event.seq > found.state.seq]
        begun = {each.message.seq: each for each in growing}
        for event in missed:
            snapshot = begun.get(event.seq)
            connection.put(event.frame if snapshot is None else _posted(event, snapshot.snapshot))

    async def hear(self, connection: BrowserConnection, receive: Receive) -> None:
        """Carries out the browser's requests, in order, until the browser is gone."""
        mistakes = 0
        while connection.closed is None and (text := await receive()) is not None:
            try:
                frame = decode(text)
            except msgspec.DecodeError as problem:
                mistakes += 1
                connection.tell(Refused(client_of(text), f"This does not follow the protocol: {problem}."))
                if mistakes >= MOST_MISTAKES:
                    connection.close(BROKEN)
                continue
            try:
                await self._do(connection, frame)
            except InvalidRequest as refusal:
                connection.tell(Refused(getattr(frame, "client", ""), str(refusal)))
            except StoreUnavailable:
                connection.close(TRY_LATER)  # nothing was confirmed, so the browser sends it again

    async def _do(self, connection: BrowserConnection, frame: FromBrowser) -> None:
        me, journal = connection.person, self._journal
        crashpoint("K2")
        match frame:
            case Say(client, room, text, thread, reply_to, files):
                id = await journal.say(me, client, room, text, thread, reply_to, files)
            case Edit(client, message, text):
                id = await journal.edit_own(me, client, message, text)
            case Delete(client, message):
                id = await journal.delete_own(me, client, message)
            case React(client, message, emoji, remove):
                id = await journal.react_as(me, client, message, emoji, remove)
            case Stop(client, room, thread):
                id = await journal.stop(me, client, room, thread)
            case Press(client, message, says):
                id = await journal.press(me, client, message, says)
            case MakeRoom(client, title, agents):
                id = await journal.make_room(me, client, title, agents)
            case MarkRead(room, seq):
                return await journal.mark_read(me, room, seq)
            case StillTyping(room, thread):
                return await self._typing(me, room, thread)
            case AskHistory():
                return await self._history(connection, frame)
            case Search():
                return await self._search(connection, frame)
            case AskSubagents() | AskSubagentLog():
                return await self._tell_subagents(connection, frame)
            case Ping():
                return connection.tell(Pong())
            case Hello():
                raise InvalidRequest("This browser has said hello already.")
            case _:
                assert_never(frame)
        crashpoint("K1")
        connection.tell(Done(client, id))
        crashpoint("K5")

    async def _typing(self, me: str, room_id: str, thread: str | None) -> None:
        room = await reading.room(self._journal.log, room_id)
        if room is not None and (person := reading.person_of(room)) in (None, me):
            self._hub.show(TypingNow(room_id, me, thread), person, but=me)

    async def _history(self, connection: BrowserConnection, asked: AskHistory) -> None:
        me, log = connection.person, self._journal.log
        if not await reading.is_open_to(log, asked.room, me):
            raise InvalidRequest("There is no such room.")
        connection.hold()
        shown: tuple[Message, ...] = ()
        try:
            if asked.around is not None:
                found, more = await reading.around(log, me, asked.around, asked.limit)
            else:
                found, more = await reading.history(log, me, asked.room, asked.thread, asked.before, asked.limit)
            shown = tuple(map(self._hub.as_it_stands, found))
            connection.tell(Page(asked.client, shown, more))
        finally:
            connection.release({message.id for message in shown})

    async def _search(self, connection: BrowserConnection, asked: Search) -> None:
        messages, more = await reading.search(
            self._journal.log, connection.person, asked.query, asked.room, asked.before, asked.limit
        )
        connection.tell(Page(asked.client, messages, more))

    async def _tell_subagents(self, connection: BrowserConnection, asked: AskSubagents | AskSubagentLog) -> None:
        known, me = self._subagents, connection.person
        room = await reading.room(self._journal.log, asked.room)
        if known is None or room is None or reading.person_of(room) not in (None, me):
            raise InvalidRequest("There is no such room.")
        if isinstance(asked, AskSubagents):
            connection.tell(Subagents(asked.client, asked.room, await known.listed(room, me)))
        elif (found := await known.log(room, me, asked.subagent)) is not None:
            connection.tell(SubagentLog(asked.client, asked.subagent, *found))
        else:
            raise InvalidRequest("There is no such sub-agent, or you may not use /subagents here.")


def _posted(event: BrowserEvent, message: Message) -> str:
    return encode(Posted(event.seq, message)).decode()
