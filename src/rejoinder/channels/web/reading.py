"""The queries on the room log. Each reads through one connection and returns values."""

import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct, convert

from rejoinder.channels.web import files, inbounds
from rejoinder.channels.web.faces import person_member, seen_by_others
from rejoinder.channels.web.nouns import File, Member, Message, Person, Quoted, Reaction, Room, Thread
from rejoinder.events import Choice, Inbound

MOST_RESUMED = 1000
"""The most events that are replayed to a browser that comes back; with more, starting afresh is faster."""
MOST_CARRIED = 64 << 20
"""Bytes of files that are given to the gateway at once, unless a single message has more."""

MOST_TEXT = 500_000
"""Characters on one page of messages, which a browser reads in one go; one message is a page whatever its length."""


class Details(Struct, frozen=True, omit_defaults=True):
    """What a message has besides its text."""

    reply_to: Quoted | None = None
    files: tuple[File, ...] = ()
    choices: tuple[Choice, ...] = ()
    client: str = ""
    silent: bool = False
    answers: str = ""
    outdated: bool = False
    stopped: bool = False
    note: bool = False


def details_of(message: Message) -> str:
    """What is kept of a message besides its text."""
    return _details_encoder.encode(convert(message, Details, from_attributes=True)).decode()


class Kept(Struct, frozen=True):
    message: Message
    audience: str | None
    state: str
    deleted: bool


_details = msgspec.json.Decoder(Details)
_details_encoder = msgspec.json.Encoder()
_COLUMNS = "seq, id, room, thread, author, at, text, details, audience, only_for, state, edited, deleted"
_TEXT = _COLUMNS.split(", ").index("text")


def _kept(row: Any) -> Kept:
    seq, id, room, thread, author, at, text, details, audience, only_for, state, edited, deleted = row
    more = _details.decode(details)
    message = Message(
        id=id,
        room=room,
        author=author,
        at=at,
        seq=seq,
        text=text,
        thread=thread,
        reply_to=more.reply_to,
        files=more.files,
        choices=more.choices,
        client=more.client,
        only_for=only_for or "",
        edited=bool(edited),
        silent=more.silent,
        answers=more.answers,
        outdated=more.outdated,
        stopped=more.stopped,
        note=more.note,
    )
    return Kept(message, audience, state, bool(deleted))


def token(db: sqlite3.Connection) -> str | None:
    """The hash of the owner's login token, if there is one."""
    return db.execute("SELECT token FROM journal").fetchone()[0]


def address(db: sqlite3.Connection) -> str | None:
    """Where people reach the page, if they need a login."""
    return db.execute("SELECT address FROM journal").fetchone()[0]


def agents(db: sqlite3.Connection) -> tuple[str, ...]:
    return msgspec.json.decode(db.execute("SELECT agents FROM journal").fetchone()[0], type=tuple[str, ...])


def taken(db: sqlite3.Connection) -> int:
    """Up to where the gateway had taken events when it last started, or ended cleanly."""
    return db.execute("SELECT taken FROM journal").fetchone()[0]


def message(db: sqlite3.Connection, id: str) -> Kept | None:
    row = db.execute(f"SELECT {_COLUMNS} FROM messages WHERE id = ?", (id,)).fetchone()
    return _kept(row) if row else None


def answers_to(db: sqlite3.Connection, question: Message) -> list[Kept]:
    """What agents said about a message of a person."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE room = ? AND seq > ? AND NOT deleted"
        " AND json_extract(details, '$.answers') = ?",
        (question.room, question.seq, question.id),
    )
    return [_kept(row) for row in rows]


def newest_of(db: sqlite3.Connection, room: str, thread: str | None, agents: Iterable[str]) -> Message | None:
    """The last message of an agent in a place."""
    wanted = tuple(agents)
    row = db.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE room = ? AND thread IS ? AND NOT deleted"
        f" AND author IN ({','.join('?' * len(wanted))}) ORDER BY seq DESC LIMIT 1",
        (room, thread, *wanted),
    ).fetchone()
    return _kept(row).message if row else None


def by_key(db: sqlite3.Connection, key: str) -> Kept | None:
    row = db.execute(f"SELECT {_COLUMNS} FROM messages WHERE part = ?", (key,)).fetchone()
    return _kept(row) if row else None


def room(db: sqlite3.Connection, id: str) -> Room | None:
    row = db.execute("SELECT id, kind, title, agents FROM rooms WHERE id = ?", (id,)).fetchone()
    return Room(row[0], row[1], row[2], msgspec.json.decode(row[3], type=tuple[str, ...])) if row else None


def is_open_to(db: sqlite3.Connection, room: str, person: str) -> bool:
    row = db.execute("SELECT person FROM rooms WHERE id = ?", (room,)).fetchone()
    return row is not None and row[0] in (None, person)


def place(db: sqlite3.Connection, id: str) -> tuple[Room, str | None] | None:
    """A room and, if it is a direct chat, the one person it is for."""
    found = room(db, id)
    if found is None:
        return None
    return found, db.execute("SELECT person FROM rooms WHERE id = ?", (id,)).fetchone()[0]


def person_name(db: sqlite3.Connection, id: str) -> str:
    row = db.execute("SELECT name FROM people WHERE id = ?", (id,)).fetchone()
    return row[0] if row else id


def people(db: sqlite3.Connection) -> tuple[Member, ...]:
    rows = db.execute("SELECT id, name FROM people ORDER BY name").fetchall()
    return tuple(seen_by_others(person_member(Person(id, name))) for id, name in rows)


def sent_file(db: sqlite3.Connection, key: str) -> File | None:
    """The file that the gateway stored under this key."""
    row = db.execute("SELECT upload FROM sent_files WHERE part = ?", (key,)).fetchone()
    return files.file(db, row[0]) if row else None


def reactions(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, tuple[Reaction, ...]]:
    """The reactions by message; the emoji in the order in which they were first given."""
    wanted = list(ids)
    places = ",".join("?" * len(wanted))
    found: dict[str, dict[str, list[str]]] = {}
    for id, emoji, who in db.execute(
        f"SELECT message, emoji, who FROM reactions WHERE message IN ({places}) ORDER BY seq", wanted
    ):
        found.setdefault(id, {}).setdefault(emoji, []).append(who)
    return {id: tuple(Reaction(emoji, tuple(who)) for emoji, who in each.items()) for id, each in found.items()}


def _threads(db: sqlite3.Connection, ids: list[str], person: str) -> dict[str, Thread]:
    places = ",".join("?" * len(ids))
    rows = db.execute(
        f"SELECT thread, count(*), max(at) FROM messages WHERE thread IN ({places}) AND NOT deleted"
        f" AND (audience IS NULL OR audience = ?) AND {_SAID} GROUP BY thread",
        (*ids, person),
    )
    return {id: Thread(count, latest) for id, count, latest in rows}


def _whole(db: sqlite3.Connection, rows: Iterable[Any], person: str) -> list[Message]:
    """The messages with their reactions and threads."""
    messages = [_kept(row).message for row in rows]
    ids = [message.id for message in messages]
    given, under = reactions(db, ids), _threads(db, ids, person)
    return [
        msgspec.structs.replace(message, reactions=given.get(message.id, ()), under=under.get(message.id))
        for message in messages
    ]


_SEEN = "NOT deleted AND (audience IS NULL OR audience = ?)"
_SAID = "json_extract(details, '$.note') IS NULL"
"""A note of the gateway is nobody's message: it is shown, and neither counted nor announced."""


def history(
    db: sqlite3.Connection, person: str, room: str, thread: str | None, before: int | None, limit: int
) -> tuple[tuple[Message, ...], bool]:
    """The latest messages before `before`, oldest first, and whether there are older ones."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE room = ? AND thread IS ? AND seq < ? AND {_SEEN}"
        " ORDER BY seq DESC LIMIT ?",
        (room, thread, before if before is not None else 1 << 62, person, limit + 1),
    )
    page, more = _page(rows, limit)
    return tuple(reversed(_whole(db, page, person))), more


def _last_said(db: sqlite3.Connection, person: str, room: str) -> Message | None:
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE room = ? AND thread IS NULL AND {_SEEN} AND {_SAID}"
        " ORDER BY seq DESC LIMIT 1",
        (room, person),
    )
    return next(iter(_whole(db, rows, person)), None)


def _page(rows: Iterable[Any], limit: int) -> tuple[list[Any], bool]:
    """As many rows as make a page, and whether there are more."""
    page: list[Any] = []
    left = MOST_TEXT
    for row in rows:
        left -= len(row[_TEXT])
        if len(page) == limit or (page and left < 0):
            return page, True
        page.append(row)
    return page, False


def thread_before(
    db: sqlite3.Connection, room: str, thread: str, id: str, person: str | None, limit: int
) -> tuple[Message, ...]:
    """The latest whole messages of a thread before this one, oldest first. `person`: the one a direct chat is for."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE room = ? AND thread = ? AND {_SEEN} AND only_for IS NULL"
        " AND state <> 'growing' AND seq < (SELECT seq FROM messages WHERE id = ?) ORDER BY seq DESC LIMIT ?",
        (room, thread, person, id, limit),
    ).fetchall()
    return tuple(_kept(row).message for row in reversed(rows))


def around(db: sqlite3.Connection, person: str, id: str, limit: int) -> tuple[tuple[Message, ...], bool]:
    """A message with those before and after it in its room or thread."""
    kept = message(db, id)
    if kept is None or kept.audience not in (None, person):
        return (), False
    middle = kept.message
    older, more = history(db, person, middle.room, middle.thread, middle.seq + 1, limit // 2 + 1)
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE room = ? AND thread IS ? AND seq > ? AND {_SEEN} ORDER BY seq LIMIT ?",
        (middle.room, middle.thread, middle.seq, person, limit // 2),
    )
    newer, _ = _page(rows, limit)
    return (*older, *_whole(db, newer, person)), more


def search(
    db: sqlite3.Connection, person: str, query: str, room: str | None, before: int | None, limit: int
) -> tuple[tuple[Message, ...], bool]:
    """Messages in which all words occur, the newest first."""
    words = [f"%{_literal(word)}%" for word in query.casefold().split()]
    if not words:
        return (), False
    matches = " AND ".join(["folded LIKE ? ESCAPE '\\'"] * len(words))
    here = "room = ? AND" if room is not None else ""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE {here} {matches} AND seq < ? AND {_SEEN} ORDER BY seq DESC LIMIT ?",
        (*([room] if room is not None else []), *words, before if before is not None else 1 << 62, person, limit + 1),
    )
    page, more = _page(rows, limit)
    return tuple(_whole(db, page, person)), more


def _literal(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def rooms(db: sqlite3.Connection, person: str, agents: Iterable[str]) -> tuple[Room, ...]:
    """The rooms a person may see, with their read marks; without agents that are no longer configured."""
    here = set(agents)
    found: list[Room] = []
    rows = db.execute(
        "SELECT id, kind, title, agents, coalesce(reads.seq, 0) FROM rooms"
        " LEFT JOIN reads ON reads.room = rooms.id AND reads.person = ?"
        " WHERE rooms.person IS NULL OR rooms.person = ? ORDER BY rooms.rowid",
        (person, person),
    ).fetchall()
    for id, kind, title, listed, read in rows:
        present = tuple(agent for agent in msgspec.json.decode(listed, type=tuple[str, ...]) if agent in here)
        unread = db.execute(
            f"SELECT count(*) FROM messages WHERE room = ? AND seq > ? AND author <> ? AND {_SEEN} AND {_SAID}",
            (id, read, person, person),
        ).fetchone()[0]
        last = _last_said(db, person, id)
        if present or last is not None:
            found.append(Room(id, kind, title, present, unread, read, last))
    return tuple(found)


def missed(db: sqlite3.Connection, person: str, since: int) -> list[tuple[int, str]] | None:
    """The frames after a number; None if they are too many, or no longer all there."""
    first = db.execute("SELECT min(seq) FROM events").fetchone()[0]
    if first is None or since < first - 1:
        return None
    rows = db.execute(
        "SELECT seq, frame FROM events WHERE seq > ? AND frame IS NOT NULL AND (audience IS NULL OR audience = ?)"
        " ORDER BY seq LIMIT ?",
        (since, person, MOST_RESUMED + 1),
    ).fetchall()
    return rows if len(rows) <= MOST_RESUMED else None


def arrived(db: sqlite3.Connection, after: int, limit: int = 100) -> list[tuple[int, Inbound]]:
    """What the gateway has not been given yet, files included: so many messages, or fewer if their files are large."""
    rows = db.execute(
        "SELECT seq, inbound FROM events WHERE seq > ? AND inbound IS NOT NULL ORDER BY seq LIMIT ?", (after, limit)
    )
    found: list[tuple[int, Inbound]] = []
    carried = 0
    for seq, packed in rows.fetchall():
        inbound = inbounds.unpack(packed)
        carried += sum(file.size or 0 for file in inbound.attachments)
        if found and carried > MOST_CARRIED:
            break
        found.append((seq, _with_files(db, inbound)))
    return found


def _with_files(db: sqlite3.Connection, inbound: Inbound) -> Inbound:
    if not inbound.attachments:
        return inbound
    filled = tuple(
        msgspec.structs.replace(attachment, content=content)
        for attachment in inbound.attachments
        if (content := files.content(db, attachment.id)) is not None
    )
    return msgspec.structs.replace(inbound, attachments=filled)
