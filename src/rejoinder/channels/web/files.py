"""Files of the chat page, in pieces: neither side ever holds a whole upload in memory.

Rule 1: a file exists for others once it is whole. What an aborted upload left is removed, at the latest at the start.
Rule 2: one person, and all people together, may keep so many bytes; files of agents do not count.
Rule 3: a file that no message names any more, or ever did, is removed after a day.

Functions on a connection to the room log, called on the writer's thread.
"""

import secrets
import sqlite3
from collections.abc import Iterable

from msgspec import Struct

from rejoinder.channels.web.nouns import File

PIECE = 256 << 10
KEPT_UNNAMED = 24 * 3600 * 1000
"""Milliseconds."""
MOST_AT_ONCE = 50
"""Files removed in one change, so that nobody waits long for it."""


class Quota(Struct, frozen=True):
    """Bytes that are kept for one person, and for all together."""

    person: int
    all: int


class QuotaReached(Exception):
    """The text is a sentence for the person."""


def begin(db: sqlite3.Connection, name: str, mime: str, person: str, announced: int, quota: Quota, now: int) -> str:
    """Begins a person's upload; returns its id. Room is kept for as many bytes as are announced."""
    _reserve(db, person, announced, quota)
    return _begin(db, name, mime, person, announced, now)


def _begin(db: sqlite3.Connection, name: str, mime: str, person: str | None, size: int, now: int) -> str:
    id = secrets.token_urlsafe(18)
    db.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, 0)", (id, name, mime, size, person, now))
    return id


def add(db: sqlite3.Connection, id: str, number: int, piece: bytes, received: int, quota: Quota) -> None:
    """`received`: bytes of the file, with this piece."""
    person, size = db.execute("SELECT person, size FROM files WHERE id = ?", (id,)).fetchone()
    if received > size:
        _reserve(db, person, received - size, quota)
        db.execute("UPDATE files SET size = ? WHERE id = ?", (received, id))
    db.execute("INSERT INTO file_pieces VALUES (?, ?, ?)", (id, number, piece))


def _reserve(db: sqlite3.Connection, person: str, more: int, quota: Quota) -> None:
    own, total = db.execute(
        "SELECT coalesce(sum(CASE WHEN person = ? THEN size END), 0), coalesce(sum(size), 0) FROM files"
        " WHERE person IS NOT NULL",
        (person,),
    ).fetchone()
    if own + more > quota.person:
        raise QuotaReached(
            f"your files here take the {quota.person >> 20} MB that one person may keep (channels.web.person_files_mb);"
            " delete messages with files that are no longer needed"
        )
    if total + more > quota.all:
        raise QuotaReached(
            f"the files here take the {quota.all >> 20} MB that may be kept; the owner can allow more "
            "(channels.web.files_mb)"
        )


def finish(db: sqlite3.Connection, id: str, size: int) -> File:
    db.execute("UPDATE files SET whole = 1, size = ? WHERE id = ?", (size, id))
    found = file(db, id)
    assert found is not None, "only begun uploads are finished"
    return found


def keep(db: sqlite3.Connection, name: str, mime: str, content: bytes, now: int) -> File:
    """An agent's file, at once."""
    id = _begin(db, name, mime, None, len(content), now)
    starts = range(0, len(content), PIECE)
    pieces = [(id, number, content[start : start + PIECE]) for number, start in enumerate(starts)]
    db.executemany("INSERT INTO file_pieces VALUES (?, ?, ?)", pieces)
    return finish(db, id, len(content))


def file(db: sqlite3.Connection, id: str) -> File | None:
    row = db.execute("SELECT name, mime, size FROM files WHERE id = ? AND whole", (id,)).fetchone()
    return File(id, row[0], row[1], row[2], f"/files/{id}") if row else None


def piece(db: sqlite3.Connection, id: str, number: int) -> bytes | None:
    """None: that was the last one."""
    row = db.execute("SELECT content FROM file_pieces WHERE file = ? AND number = ?", (id, number)).fetchone()
    return row[0] if row else None


def content(db: sqlite3.Connection, id: str) -> bytes | None:
    """All of it, as an agent is given it; None: there is no such file."""
    if file(db, id) is None:
        return None
    rows = db.execute("SELECT content FROM file_pieces WHERE file = ? ORDER BY number", (id,))
    return b"".join(row[0] for row in rows)


def name_in(db: sqlite3.Connection, message: str, files: Iterable[File]) -> None:
    db.executemany("INSERT OR IGNORE INTO file_uses VALUES (?, ?)", [(each.id, message) for each in files])


def unname(db: sqlite3.Connection, message: str, now: int) -> None:
    """The message is gone; files that only it named follow a day later."""
    db.execute("UPDATE files SET at = ? WHERE id IN (SELECT file FROM file_uses WHERE message = ?)", (now, message))
    db.execute("DELETE FROM file_uses WHERE message = ?", (message,))


def drop(db: sqlite3.Connection, *ids: str) -> None:
    for id in ids:
        db.execute("DELETE FROM file_pieces WHERE file = ?", (id,))
        db.execute("DELETE FROM files WHERE id = ?", (id,))


def drop_unfinished(db: sqlite3.Connection) -> None:
    drop(db, *[id for (id,) in db.execute("SELECT id FROM files WHERE NOT whole").fetchall()])


def drop_unnamed(db: sqlite3.Connection, now: int) -> bool:
    """Removes some files that no message names; whether there may be more."""
    rows = db.execute(
        "SELECT id FROM files WHERE at < ? AND person IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file_uses.file = files.id) LIMIT ?",
        (now - KEPT_UNNAMED, MOST_AT_ONCE),
    ).fetchall()
    drop(db, *[id for (id,) in rows])
    return len(rows) == MOST_AT_ONCE
