"""What people do in the rooms of the page.

Rule 1: a request that a person repeats, or a part with the same key, takes effect once and gets the same answer.
Rule 2: one commit puts what a person says into the log and into the gateway's inbox.
"""

import secrets
from collections.abc import Collection

import msgspec
from msgspec.structs import replace

from rejoinder.channels.web import logins, reading
from rejoinder.channels.web.answers import Answers, can_be_direct_chat, no_such_room
from rejoinder.channels.web.avatars import person_member, seen_by_others
from rejoinder.channels.web.logins import LOGINS, Invited
from rejoinder.channels.web.nouns import Member, Message, Person, Quoted, Reaction, Room
from rejoinder.channels.web.protocol import PersonJoined, Reacted, WasRead
from rejoinder.channels.web.reading import LoggedMessage
from rejoinder.channels.web.records import DONE, PAGE, PEOPLE, NewEvent, request_id, retry_on_conflict
from rejoinder.events import Sender
from rejoinder.room_log import Fact, LogState, Mark, OnceRequest, RoomLogReader

LOBBY = "lobby"


async def room_problem(log: RoomLogReader, id: str, agents: Collection[str]) -> str:
    """Why a message to this room would be lost: the page does not have it. Empty where it has.

    Before the page has been served for the first time, this is not known. A room that the next gateway would create
    for these agents when it starts counts as existing.
    """
    served = await log.fact(PAGE, "agents")
    if served is None or await log.room(id) is not None:
        return ""
    members = {*msgspec.json.decode(served, type=tuple[str, ...]), *agents}
    is_lobby = id == LOBBY and len(members) > 1
    return "" if is_lobby or can_be_direct_chat(id, members) else no_such_room(id)


class InvalidRequest(Exception):
    """The request is invalid; the exception's text is a sentence for the person."""


class RoomJournal(Answers):
    id = ""
    """The id of the log; a browser that has seen a different log starts from the beginning."""

    async def begin(self) -> LogState:
        """Called once, before anything else. Returns the state of the log, which later events follow."""
        state = await self.log.state()
        self.id = state.id
        agents = msgspec.json.encode(self._ids)
        if await self.log.fact(PAGE, "agents") != agents:
            await self._record(facts=(Fact(PAGE, "agents", agents),))
        if len(self.agents) > 1:
            wanted = Room(LOBBY, "group", LOBBY, self._ids)
            if await reading.room(self.log, LOBBY) != wanted:
                await self._record(self._room_made(wanted))
        return await self.log.state()

    # --- who may open the page ----------------------------------------------------------------------

    async def token(self) -> str | None:
        """The hash of the owner's login token, if there is one."""
        kept = await self.log.fact(PAGE, "token")
        return None if kept is None else kept.decode()

    async def keep_token(self, hashed: str) -> None:
        await self._record(facts=(Fact(PAGE, "token", hashed.encode()),))

    async def keep_address(self, address: str | None) -> None:
        """Where people reach the page; None: they need no login."""
        await self._record(facts=(Fact(PAGE, "address", None if address is None else address.encode()),))

    async def invited(self) -> tuple[Invited, ...]:
        return logins.invited(await self.log.facts(LOGINS))

    async def invite(self, name: str) -> tuple[Person, str]:
        known = await self.log.facts(LOGINS)
        person, token, kept = logins.invite(known, name, self.agents, self._now())
        await self._record(facts=(Fact(LOGINS, person.id, kept),))
        return person, token

    async def revoke(self, who: str) -> Person:
        person = logins.found(await self.log.facts(LOGINS), who, self.agents)
        await self._record(facts=(Fact(LOGINS, person.id, None),))
        return person

    # --- rooms and people ---------------------------------------------------------------------------

    async def arrive(self, person: Person) -> Member:
        """Called when a person opens the page: from now on they are known, and have a direct chat with each agent."""
        member = person_member(person)
        happened: list[NewEvent] = []
        facts: tuple[Fact, ...] = ()
        if await self.log.fact(PEOPLE, person.id) != person.name.encode():
            facts = (Fact(PEOPLE, person.id, person.name.encode()),)
            happened.append(NewEvent(PersonJoined(0, seen_by_others(member)), None))
        for agent in self.members:
            room = self._direct_chat(agent, person.id)
            if await reading.room(self.log, room.id) != room:
                happened.append(self._room_made(room))
        if happened:
            await self._record(*happened, facts=facts)
        return member

    @retry_on_conflict
    async def make_room(self, person: str, client: str, title: str, agents: tuple[str, ...]) -> str:
        if (known := await self._known(person, client)) is not None:
            return known
        if unknown := [agent for agent in agents if agent not in self.agents]:
            raise InvalidRequest(f"There is no agent called {unknown[0]}.")
        title = " ".join(title.split()) or "room"
        room = Room(f"room-{secrets.token_hex(6)}", "group", title, agents or self._ids)
        await self._record(self._room_made(room), once=_once(person, client, room.id))
        return room.id

    async def _room_for(self, person: str, id: str) -> Room:
        room = await reading.room(self.log, id)
        if room is None or reading.person_of(room) not in (None, person):
            raise InvalidRequest("There is no such room.")
        return room

    async def _known(self, person: str, client: str) -> str | None:
        kept = await self.log.fact(DONE, _done_key(person, client))
        return None if kept is None else kept.decode()

    # --- what people do -----------------------------------------------------------------------------

    @retry_on_conflict
    async def say(
        self,
        person: str,
        client: str,
        room_id: str,
        text: str,
        thread: str | None,
        reply_to: str | None,
        attachments: tuple[str, ...],
    ) -> str:
        if (known := await self._known(person, client)) is not None:
            return known
        room = await self._room_for(person, room_id)
        attached = await self._files(attachments)
        if len(attached) < len(attachments):
            raise InvalidRequest("A file of this message no longer exists; attach it again.")
        if not text.strip() and not attached:
            raise InvalidRequest("There is nothing in this message.")
        if thread is not None and not await self._can_hold_thread(thread, room_id, person):
            raise InvalidRequest("The message this thread belongs to does not exist.")
        quoted = await self._quoted(reply_to, room_id, person)
        if reply_to is not None and quoted is None:
            raise InvalidRequest("The message this one replies to does not exist.")
        message = Message(
            id=f"w{request_id(person, client)}",
            room=room_id,
            author=person,
            at=self._now(),
            seq=0,
            text=text,
            thread=thread,
            reply_to=quoted,
            files=attached,
            client=client,
        )
        await self._post(message, room, once=_once(person, client, message.id))
        return message.id

    async def room_for_programs(self, id: str) -> Room | None:
        """A room, or a person's direct chat, which is created if they have not opened the page yet."""
        return await reading.room(self.log, id) or await self._room_of_nobody_yet(id)

    @retry_on_conflict
    async def say_for_program(
        self, program: Person, client: str, room: Room, text: str, thread: str | None, agent: str
    ) -> str:
        """Posts what a program says to an agent, once for each `client`. It is shown as a message of its own."""
        if (known := await self._known(program.id, client)) is not None:
            return known
        if thread is not None and not await self._can_hold_thread(thread, room.id, reading.person_of(room) or ""):
            raise InvalidRequest("The message this thread belongs to does not exist.")
        id = f"w{request_id(program.id, client)}"
        message = Message(id, room.id, program.id, self._now(), 0, text, thread)
        heard = replace(
            await self._heard(message, room, "http"),
            sender=Sender(program.id, program.name, program.name, is_bot=True),
            mentions=(),
            addressee=agent,
            peer=reading.person_of(room) or "",
        )
        happened = self._posted(message, room)
        facts: tuple[Fact, ...] = ()
        if await self.log.fact(PEOPLE, program.id) != program.name.encode():
            facts = (Fact(PEOPLE, program.id, program.name.encode()),)
            happened = (NewEvent(PersonJoined(0, person_member(program)), None), *happened)
        await self._record(*happened, heard=heard, once=_once(program.id, client, id), facts=facts)
        return id

    @retry_on_conflict
    async def edit_own(self, person: str, client: str, id: str, text: str) -> str:
        if (known := await self._known(person, client)) is not None:
            return known
        kept = await self._own(person, id)
        once = _once(person, client, id)
        if text == kept.message.text:
            await self._record(once=once)
            return id
        bare = replace(kept.message, reactions=self._without_ours(kept.message.reactions))
        message, happened = self._edited(replace(kept, message=bare), text, (), edited=True)
        reacted = NewEvent(Reacted(0, bare.room, bare.id, bare.reactions), kept.entry.audience)
        taken_back = () if bare == kept.message else (reacted,)
        room = await reading.room(self.log, message.room)
        heard = None
        if room is not None and self._concerns(message, room):
            heard = await self._heard(message, room, "edit", request=request_id(person, client))
        outdated = [
            marked
            for answer in await reading.answers_to(self.log, kept.message)
            for marked in self._marked(answer, replace(answer.message, outdated=True))
        ]
        await self._record(happened, *taken_back, *outdated, heard=heard, once=once)
        return id

    def _without_ours(self, reactions: tuple[Reaction, ...]) -> tuple[Reaction, ...]:
        """The reactions without those of agents: they were for the old words, and the agents are asked again."""
        left = (Reaction(each.emoji, tuple(who for who in each.who if who not in self.agents)) for each in reactions)
        return tuple(each for each in left if each.who)

    @retry_on_conflict
    async def stop(self, person: str, client: str, room_id: str, thread: str | None) -> str:
        """Passed to the gateway as `/stop` for the agent that spoke last; no message is shown."""
        if (known := await self._known(person, client)) is not None:
            return known
        room = await self._room_for(person, room_id)
        last = await reading.newest_of(self.log, room_id, thread, room.agents)
        quoted = None if last is None else Quoted(last.id, last.author)
        unseen = Message(f"stop{request_id(person, client)}", room_id, person, self._now(), 0, "/stop", thread, quoted)
        await self._record(heard=await self._heard(unseen, room, "text"), once=_once(person, client, room_id))
        return room_id

    @retry_on_conflict
    async def delete_own(self, person: str, client: str, id: str) -> str:
        if (known := await self._known(person, client)) is not None:
            return known
        await self._record(await self._deleted(await self._own(person, id)), once=_once(person, client, id))
        return id

    @retry_on_conflict
    async def react_as(self, person: str, client: str, id: str, emoji: str, remove: bool) -> str:
        if (known := await self._known(person, client)) is not None:
            return known
        kept = await self._seen_by(person, id)
        once, happened = _once(person, client, id), self._reacted(kept, person, emoji, remove)
        if happened is None:
            await self._record(once=once)
            return id
        room = await reading.room(self.log, kept.message.room)
        heard = None
        if room is not None and not remove:
            request = request_id(person, client)
            heard = await self._heard(kept.message, room, "reaction", person, emoji, request)
        await self._record(happened, heard=heard, once=once)
        return id

    @retry_on_conflict
    async def press(self, person: str, client: str, id: str, says: str) -> str:
        if (known := await self._known(person, client)) is not None:
            return known
        kept = await self._seen_by(person, id)
        if says not in [choice.says for choice in kept.message.choices]:
            raise InvalidRequest("This button no longer exists.")
        room = await self._room_for(person, kept.message.room)
        heard = await self._heard(kept.message, room, "button", person, says, request_id(person, client))
        await self._record(heard=heard, once=_once(person, client, id))
        return id

    @retry_on_conflict
    async def mark_read(self, person: str, room_id: str, seq: int) -> None:
        await self._room_for(person, room_id)
        seq = min(seq, (await self.log.state()).seq)
        if await self.log.mark(person, room_id) < seq:
            mark = NewEvent(WasRead(0, room_id, seq), person, Mark(person, room_id, seq))
            await self._record(mark)

    async def _seen_by(self, person: str, id: str) -> LoggedMessage:
        kept = await reading.message(self.log, id)
        if kept is None or kept.entry.audience not in (None, person):
            raise InvalidRequest("This message no longer exists.")
        return kept

    async def _own(self, person: str, id: str) -> LoggedMessage:
        kept = await self._seen_by(person, id)
        if kept.message.author != person:
            raise InvalidRequest("Only the author of a message can change it.")
        return kept

    async def _can_hold_thread(self, id: str, room: str, person: str) -> bool:
        entry = await self.log.entry(id)
        return entry is not None and entry.room == room and not entry.thread and entry.audience in (None, person)


def _done_key(person: str, client: str) -> str:
    return f"{person} {client}"


def _once(person: str, client: str, result: str) -> OnceRequest:
    return OnceRequest(DONE, _done_key(person, client), result.encode())
