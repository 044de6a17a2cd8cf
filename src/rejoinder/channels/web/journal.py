"""The room log: rooms, messages, edits, reactions, read marks and files, each change with an increasing number.

Rule 1: a change and the events it causes (for browsers and for the gateway) are one transaction.
Rule 2: a request that a person repeats, or a part with the same key, changes things once and gets the same answer.
Rule 3: methods run on the writer's thread; the event loop talks to `keeper.py`.
"""

import secrets
import sqlite3
from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.web import files, logins, reading
from rejoinder.channels.web.faces import OWNER, person_id, person_member, seen_by_others
from rejoinder.channels.web.files import Quota
from rejoinder.channels.web.nouns import File, Member, Message, Person, Quoted, Room
from rejoinder.channels.web.protocol import (
    Deleted,
    PersonJoined,
    Reacted,
    RoomMade,
    WasRead,
)
from rejoinder.channels.web.reading import Kept
from rejoinder.channels.web.records import Records
from rejoinder.events import Choice, Part

LOBBY = "lobby"


class Sent(Struct, frozen=True):
    """One of our messages, and whether it still grows."""

    message: Message
    audience: str | None
    growing: bool


class NoTarget(Exception):
    """The message that a part replies to does not exist: nothing was written."""


class NotDone(Exception):
    """The request is invalid; the exception's text is a sentence for the person."""


class Journal(Records):
    def __init__(
        self, db: sqlite3.Connection, channel: str, agents: tuple[Member, ...], now: Callable[[], int]
    ) -> None:
        super().__init__(db, channel, agents, now)
        files.drop_unfinished(db)
        if len(agents) > 1:
            self._lobby()
        self.told()  # discarded: browsers that connect read these events from the log

    # --- who may open the page ----------------------------------------------------------------------

    def keep_token(self, hashed: str) -> None:
        self.db.execute("UPDATE journal SET token = ?", (hashed,))

    def keep_address(self, address: str | None) -> None:
        self.db.execute("UPDATE journal SET address = ?", (address,))

    def invite(self, name: str) -> tuple[Person, str]:
        return logins.invite(self.db, name, self.agents, self._now())

    def revoke(self, who: str) -> Person:
        return logins.revoke(self.db, who, self.agents)

    # --- rooms and people ---------------------------------------------------------------------------

    def _lobby(self) -> None:
        room = reading.room(self.db, LOBBY)
        wanted = Room(LOBBY, "group", LOBBY, self._ids)
        if room != wanted:
            self._put_room(wanted, None)

    def _put_room(self, room: Room, person: str | None) -> None:
        agents = msgspec.json.encode(room.agents).decode()
        self.db.execute(
            "INSERT INTO rooms VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET title = excluded.title,"
            " agents = excluded.agents",
            (room.id, room.kind, room.title, agents, person),
        )
        self._record(lambda seq: RoomMade(seq, room), person, None)

    def arrive(self, person: Person) -> Member:
        """A person opens the page: they are known from now on, and have a direct chat with each agent."""
        member = person_member(person)
        kept = self.db.execute("SELECT name FROM people WHERE id = ?", (person.id,)).fetchone()
        if kept is None or kept[0] != person.name:
            self.db.execute("INSERT OR REPLACE INTO people VALUES (?, ?)", (person.id, person.name))
            self._record(lambda seq: PersonJoined(seq, seen_by_others(member)), None, None)
        for agent in self.agents.values():
            self._direct_chat(agent, person.id)
        return member

    def _direct_chat(self, agent: Member, person: str) -> Room:
        room = Room(f"{agent.id}~{person}", "direct", agent.name, (agent.id,))
        if reading.room(self.db, room.id) != room:
            self._put_room(room, person)
        return room

    def _room_of_nobody_yet(self, id: str) -> Room | None:
        """The direct chat of a person who has not opened the page yet, and will find it when they do."""
        agent, _, person = id.partition("~")
        is_name = person == OWNER or person == person_id(person, self.agents)
        return self._direct_chat(self.agents[agent], person) if agent in self.agents and is_name else None

    def make_room(self, person: str, client: str, title: str, agents: tuple[str, ...]) -> str:
        if (known := self._known(person, client)) is not None:
            return known
        if unknown := [agent for agent in agents if agent not in self.agents]:
            raise NotDone(f"There is no agent called {unknown[0]}.")
        title = " ".join(title.split()) or "room"
        room = Room(f"room-{secrets.token_hex(6)}", "group", title, agents or self._ids)
        self._put_room(room, None)
        return self._answered(person, client, room.id)

    def _room_for(self, person: str, id: str) -> Room:
        row = self.db.execute("SELECT person FROM rooms WHERE id = ?", (id,)).fetchone()
        room = reading.room(self.db, id)
        if room is None or row[0] not in (None, person):
            raise NotDone("This room is not there.")
        return room

    def _known(self, person: str, client: str) -> str | None:
        row = self.db.execute(
            "SELECT result FROM requests WHERE person = ? AND client = ?", (person, client)
        ).fetchone()
        return row[0] if row else None

    def _answered(self, person: str, client: str, result: str) -> str:
        self.db.execute("INSERT INTO requests VALUES (?, ?, ?)", (person, client, result))
        return result

    # --- what people do -----------------------------------------------------------------------------

    def say(
        self,
        person: str,
        client: str,
        room_id: str,
        text: str,
        thread: str | None,
        reply_to: str | None,
        attachments: tuple[str, ...],
    ) -> str:
        if (known := self._known(person, client)) is not None:
            return known
        room = self._room_for(person, room_id)
        attached = tuple(files.file(self.db, id) for id in attachments)
        if None in attached:
            raise NotDone("A file of this message is not there any more; attach it again.")
        if not text.strip() and not attached:
            raise NotDone("There is nothing in this message.")
        if thread is not None and not self._can_hold_thread(thread, room_id, person):
            raise NotDone("The message this thread hangs under is not there.")
        quoted = self._quoted(reply_to, room_id, person)
        if reply_to is not None and quoted is None:
            raise NotDone("The message this one answers is not there.")
        message = Message(
            id="",
            room=room_id,
            author=person,
            at=self._now(),
            seq=0,
            text=text,
            thread=thread,
            reply_to=quoted,
            files=tuple(file for file in attached if file is not None),
            client=client,
        )
        posted = self._post(message, room, key=None, state="whole", is_heard=True)
        return self._answered(person, client, posted.id)

    def edit_own(self, person: str, client: str, id: str, text: str) -> str:
        if (known := self._known(person, client)) is not None:
            return known
        kept = self._own(person, id)
        if text != kept.message.text:
            self._change(kept, text, (), edited=True, entry="edit")
            for answer in reading.answers_to(self.db, kept.message):
                self._mark(answer, replace(answer.message, outdated=True))
        return self._answered(person, client, id)

    def stop(self, person: str, client: str, room_id: str, thread: str | None) -> str:
        """Heard by the gateway as `/stop`, said to the agent that spoke last; nobody sees a message."""
        if (known := self._known(person, client)) is not None:
            return known
        room = self._room_for(person, room_id)
        last = reading.newest_of(self.db, room_id, thread, room.agents)
        quoted = None if last is None else Quoted(last.id, last.author)
        unseen = Message(f"stop{self.seq + 1}", room_id, person, self._now(), 0, "/stop", thread, quoted)
        self._record(lambda _: None, None, self._heard(unseen, room, "text"))
        return self._answered(person, client, room_id)

    def delete_own(self, person: str, client: str, id: str) -> str:
        if (known := self._known(person, client)) is not None:
            return known
        self.delete(self._own(person, id).message.id)
        return self._answered(person, client, id)

    def react_as(self, person: str, client: str, id: str, emoji: str, remove: bool) -> str:
        if (known := self._known(person, client)) is not None:
            return known
        kept = self._seen_by(person, id)
        self.react(kept, person, emoji, remove)
        return self._answered(person, client, id)

    def press(self, person: str, client: str, id: str, says: str) -> str:
        if (known := self._known(person, client)) is not None:
            return known
        kept = self._seen_by(person, id)
        if says not in [choice.says for choice in kept.message.choices]:
            raise NotDone("This button is not there any more.")
        room = self._room_for(person, kept.message.room)
        self._record(lambda _: None, None, self._heard(kept.message, room, "button", person, says))
        return self._answered(person, client, id)

    def mark_read(self, person: str, room: str, seq: int) -> None:
        self._room_for(person, room)
        seq = min(seq, self.seq)
        before = self.db.execute("SELECT seq FROM reads WHERE person = ? AND room = ?", (person, room)).fetchone()
        if before is None or before[0] < seq:
            self.db.execute("INSERT OR REPLACE INTO reads VALUES (?, ?, ?)", (person, room, seq))
            self._record(lambda number: WasRead(number, room, seq), person, None)

    def begin_file(self, name: str, mime: str, person: str, announced: int, quota: Quota) -> str:
        return files.begin(self.db, name, mime, person, announced, quota, self._now())

    def drop_unnamed_files(self) -> bool:
        return files.drop_unnamed(self.db, self._now())

    # --- what the gateway does ----------------------------------------------------------------------

    def keep_sent_file(self, key: str, name: str, mime: str, content: bytes) -> File:
        """The file under this key: only the first content is stored, even if it is stored again with another."""
        if (known := reading.sent_file(self.db, key)) is not None:
            return known
        file = files.keep(self.db, name, mime, content, self._now())
        self.db.execute("INSERT INTO sent_files VALUES (?, ?)", (key, file.id))
        return file

    def send(self, part: Part, *, growing: bool) -> Sent | None:
        """The message of this part, made now or before; None if there is no such room. Raises `NoTarget`."""
        if part.key and (kept := reading.by_key(self.db, part.key)) is not None:
            return Sent(kept.message, kept.audience, growing and kept.state != "whole")
        room = reading.room(self.db, part.route.chat) or self._room_of_nobody_yet(part.route.chat)
        if room is None:
            return None
        person = part.only_for or self._person_of(room.id)
        quoted = self._quoted(part.reply_to, room.id, person)
        if part.reply_to is not None and quoted is None:
            raise NoTarget
        message = Message(
            id="",
            room=room.id,
            author=part.author,
            at=self._now(),
            seq=0,
            text=part.text,
            thread=part.route.thread,
            reply_to=quoted,
            files=tuple(file for each in part.files if (file := files.file(self.db, each.id)) is not None),
            choices=part.choices,
            only_for=part.only_for or "",
            silent=part.silent,
            answers=part.answers,
            growing=growing,
        )
        state = "growing" if growing else "whole"
        posted = self._post(message, room, key=part.key or None, state=state, is_heard=not growing)
        return Sent(posted, person, growing)

    def complete(self, id: str, text: str, choices: tuple[Choice, ...] | None = None) -> bool:
        """Sets the whole text of one of our messages, if it is not so already. False if there is no such message."""
        kept = reading.message(self.db, id)
        if kept is None or kept.deleted:
            return False
        wanted = kept.message.choices if choices is None else choices
        grew = kept.state != "whole"
        if grew or text != kept.message.text or wanted != kept.message.choices:
            edited = not grew and text != kept.message.text
            self._change(kept, text, wanted, edited=edited, entry="text" if grew else None)
        return True

    def delete(self, id: str) -> bool:
        kept = reading.message(self.db, id)
        if kept is None:
            return False
        if not kept.deleted:
            self.db.execute(
                "UPDATE messages SET deleted = 1, text = '', folded = '', details = '{}', state = 'whole' WHERE id = ?",
                (id,),
            )
            self.db.execute("DELETE FROM reactions WHERE message = ?", (id,))
            files.unname(self.db, id, self._now())
            self._record(lambda seq: Deleted(seq, kept.message.room, id), kept.audience, None)
        return True

    def react_ours(self, id: str, who: str, emoji: str, remove: bool) -> bool:
        kept = reading.message(self.db, id)
        if kept is None or kept.deleted:
            return False
        self.react(kept, who, emoji, remove)
        return True

    def react(self, kept: Kept, who: str, emoji: str, remove: bool) -> None:
        if remove:
            changed = self.db.execute(
                "DELETE FROM reactions WHERE message = ? AND emoji = ? AND who = ?", (kept.message.id, emoji, who)
            )
        else:
            changed = self.db.execute(
                "INSERT OR IGNORE INTO reactions VALUES (?, ?, ?, ?)", (kept.message.id, emoji, who, self.seq + 1)
            )
        if not changed.rowcount:
            return
        message, room = kept.message, reading.room(self.db, kept.message.room)
        now = reading.reactions(self.db, [message.id]).get(message.id, ())
        by_person = room is not None and not remove and who and who not in self.agents
        heard = self._heard(message, room, "reaction", who, emoji) if by_person and room is not None else None
        self._record(lambda seq: Reacted(seq, message.room, message.id, now), kept.audience, heard)

    def note(self, room_id: str, thread: str | None, text: str) -> None:
        room = reading.room(self.db, room_id)
        if room is not None:
            said = Message("", room_id, "", self._now(), 0, text, thread, only_for=OWNER, silent=True, note=True)
            self._post(said, room, key=None, state="whole", is_heard=False)

    def was_stopped(self, message: str, agent: str) -> None:
        """The agent was stopped while it answered this message."""
        kept = reading.message(self.db, message)
        for answer in () if kept is None else reading.answers_to(self.db, kept.message):
            if answer.message.author == agent and not answer.message.outdated:
                self._mark(answer, replace(answer.message, stopped=True))

    def _seen_by(self, person: str, id: str) -> Kept:
        kept = reading.message(self.db, id)
        if kept is None or kept.deleted or kept.audience not in (None, person):
            raise NotDone("This message is not there any more.")
        return kept

    def _own(self, person: str, id: str) -> Kept:
        kept = self._seen_by(person, id)
        if kept.message.author != person:
            raise NotDone("Only who wrote a message can change it.")
        return kept

    def _can_hold_thread(self, id: str, room: str, person: str) -> bool:
        kept = reading.message(self.db, id)
        if kept is None or kept.message.room != room or kept.message.thread is not None:
            return False
        return kept.audience in (None, person)
