"""Reads the room log and turns its entries into the records of the page."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.web.avatars import person_member, seen_by_others
from rejoinder.channels.web.nouns import Member, Message, Person, Quoted, Room, Thread
from rejoinder.room_log import Find, Replies, RoomEntry, RoomLog, RoomView

MOST_RESUMED = 1000
"""The most events that are replayed to a browser that comes back; with more, starting over is faster."""
MOST_BYTES = 600_000
"""Bytes of one page of messages, which a browser reads in one go; a longer message is a page by itself."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class LoggedMessage(Struct, frozen=True):
    message: Message
    entry: RoomEntry


def instant(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND


_message = msgspec.json.Decoder(Message).decode
_room = msgspec.json.Decoder(Room).decode


def message_body(message: Message) -> bytes:
    """The stored form of a message, without its number and its thread, which are stored elsewhere."""
    return msgspec.json.encode(replace(message, seq=0, under=None, growing=False))


def room_body(room: Room) -> bytes:
    return msgspec.json.encode(Room(room.id, room.kind, room.title, room.agents))


def person_of(room: Room) -> str | None:
    """The person whose direct chat it is."""
    return room.id.partition("~")[2] if room.kind == "direct" else None


def kept(entry: RoomEntry) -> LoggedMessage:
    return LoggedMessage(replace(_message(entry.body), seq=entry.seq, growing=entry.state == "growing"), entry)


async def message(log: RoomLog, id: str) -> LoggedMessage | None:
    """None: it was never there, or is deleted."""
    entry = await log.entry(id)
    if entry is None or entry.state == "deleted":
        return None
    found = kept(entry)
    return None if found.message.gone else found


async def room(log: RoomLog, id: str) -> Room | None:
    row = await log.room(id)
    return None if row is None else _room(row.body)


async def is_open_to(log: RoomLog, id: str, person: str) -> bool:
    found = await room(log, id)
    return found is not None and person_of(found) in (None, person)


async def people(log: RoomLog, kind: str) -> tuple[Member, ...]:
    names = sorted((name.decode(), id) for id, name in (await log.facts(kind)).items())
    return tuple(seen_by_others(person_member(Person(id, name))) for name, id in names)


async def answers_to(log: RoomLog, question: Message) -> list[LoggedMessage]:
    """The answers of agents to a person's message."""
    found = await log.find(Find(everything=True, answers=question.id, after=question.seq, limit=1000, bytes=1 << 30))
    return [kept(entry) for entry in found.entries]


async def newest_of(log: RoomLog, room: str, thread: str | None, agents: tuple[str, ...]) -> Message | None:
    """The last message of an agent in a place."""
    found = await log.find(Find(everything=True, room=room, thread=thread or "", authors=agents, limit=1))
    return kept(found.entries[0]).message if found.entries else None


async def history(
    log: RoomLog, person: str, room: str, thread: str | None, before: int | None, limit: int
) -> tuple[tuple[Message, ...], bool]:
    """The latest messages before `before`, oldest first, and whether there are older ones."""
    wanted = Find(person=person, room=room, thread=thread or "", before=before, limit=limit, bytes=MOST_BYTES)
    found = await log.find(wanted)
    return await _whole(log, reversed(found.entries), person), found.more


async def around(log: RoomLog, person: str, id: str, limit: int) -> tuple[tuple[Message, ...], bool]:
    """A message with those before and after it in its room or thread."""
    middle = await message(log, id)
    if middle is None or middle.entry.audience not in (None, person):
        return (), False
    entry = middle.entry
    where = Find(person=person, room=entry.room, thread=entry.thread, bytes=MOST_BYTES)
    older = await log.find(replace(where, before=entry.seq + 1, limit=limit // 2 + 1))
    newer = await log.find(replace(where, after=entry.seq, oldest_first=True, limit=max(limit // 2, 1)))
    return await _whole(log, (*reversed(older.entries), *newer.entries), person), older.more


async def search(
    log: RoomLog, person: str, query: str, room: str | None, before: int | None, limit: int
) -> tuple[tuple[Message, ...], bool]:
    """Messages in which all words occur, the newest first."""
    words = tuple(query.casefold().split())
    if not words:
        return (), False
    wanted = Find(person=person, room=room, words=words, before=before, limit=limit, bytes=MOST_BYTES)
    found = await log.find(wanted)
    return await _whole(log, found.entries, person), found.more


async def thread_before(log: RoomLog, room: Room, thread: str, id: str, limit: int) -> tuple[Message, ...]:
    """The latest whole messages of a thread before this one, oldest first."""
    here = await log.entry(id)
    if here is None:
        return ()
    wanted = Find(person=person_of(room), room=room.id, thread=thread, before=here.seq, plain=True, limit=limit)
    found = await log.find(wanted)
    return tuple(kept(entry).message for entry in reversed(found.entries))


async def _whole(log: RoomLog, entries: Iterable[RoomEntry], person: str) -> tuple[Message, ...]:
    """Adds the threads to the messages, and removes the words of messages that were deleted since. A deleted message
    that stayed only for its thread is left out once the thread is empty."""
    messages = [kept(entry).message for entry in entries]
    starts = tuple(each.id for each in messages if each.thread is None)
    under = await log.replies(starts, person) if starts else {}
    gone = await _gone(log, messages)
    return tuple(
        replace(each, under=_thread(under.get(each.id)), reply_to=_quoted(each.reply_to, gone))
        for each in messages
        if not each.gone or each.id in under
    )


async def _gone(log: RoomLog, messages: list[Message]) -> set[str]:
    """The ids of messages that these quote and that no longer exist."""
    quoted = {each.reply_to.id for each in messages if each.reply_to is not None}
    elsewhere = quoted - {each.id for each in messages}
    return {id for id in elsewhere if await message(log, id) is None}


def _quoted(quoted: Quoted | None, gone: set[str]) -> Quoted | None:
    """The quote, without its words if the quoted message has been deleted since."""
    return Quoted(quoted.id, quoted.author) if quoted is not None and quoted.id in gone else quoted


def _thread(replies: Replies | None) -> Thread | None:
    return None if replies is None else Thread(replies.count, (replies.latest - _EPOCH) // _MILLISECOND)


def rooms(views: Iterable[RoomView], agents: Iterable[str]) -> tuple[Room, ...]:
    """The rooms as a person sees them; without agents that are no longer configured."""
    here = set(agents)
    found: list[Room] = []
    for view in views:
        row = _room(view.row.body)
        present = tuple(agent for agent in row.agents if agent in here)
        last = None if view.latest is None else kept(view.latest).message
        if present or last is not None:
            found.append(Room(row.id, row.kind, row.title, present, view.unread, view.read, last))
    return tuple(found)
