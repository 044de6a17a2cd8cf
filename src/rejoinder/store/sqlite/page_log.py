"""Imports the chat page that earlier versions kept in a separate database, `FILE.web.db`.

Rule 1: files come first, each in commits of its own, while nothing names them yet; then everything else in one commit.
        A process killed in between starts again, and finds the files that are there.
Rule 2: numbers, ids and requests stay the same, so that browsers resume and repeat nothing.
Rule 3: messages that the gateway had not taken yet are in its inbox afterwards.
Rule 4: the old database is only read, and then renamed to `FILE.web.db.taken`.
"""

import logging
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Inbound
from rejoinder.store.base import Accept
from rejoinder.store.rooms import scope_of
from rejoinder.store.sql.blobs import blob_body, name
from rejoinder.store.sql.inbox import accept
from rejoinder.store.sql.values import micros, seal, unseal
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.faults import fault_in

log = logging.getLogger(__name__)

VERSION: Final = 2
_AS_VERSION_2: Final = """
CREATE TEMP VIEW journal AS SELECT id, version, token, taken, NULL AS address, '[]' AS agents FROM main.journal;
CREATE TEMP VIEW logins AS SELECT '' AS person, '' AS name, '' AS token, 0 AS made WHERE 0;
CREATE TEMP VIEW files AS SELECT id, name, mime, length(content) AS size, 1 AS whole,
  CASE WHEN id IN (SELECT upload FROM sent_files) THEN NULL ELSE '' END AS person FROM uploads;
CREATE TEMP VIEW file_pieces AS
  WITH RECURSIVE piece (file, number, content, rest) AS (
    SELECT id, 0, substr(content, 1, 262144), substr(content, 262145) FROM uploads
    UNION ALL
    SELECT file, number + 1, substr(rest, 1, 262144), substr(rest, 262145) FROM piece WHERE length(rest) > 0
  )
  SELECT file, number, content FROM piece;
CREATE TEMP VIEW file_uses AS SELECT DISTINCT json_extract(file.value, '$.id') AS file, messages.id AS message
  FROM messages, json_each(messages.details, '$.files') AS file;
"""
"""Brings a page of version 1, which had neither logins nor pieces of files, into the latest form."""
CHANNEL: Final = "web"
"""The name of the page, unless somebody has given it another one."""

_unpack = msgspec.msgpack.Decoder(Inbound).decode


def import_page_log(db: Connection, path: str) -> None:
    """Called when the store is opened, under its lock."""
    old = Path(path + ".web.db")
    if path == ":memory:" or not old.is_file() or not old.stat().st_size:
        return
    with fault_in(str(old)), closing(sqlite3.connect(old, timeout=10, isolation_level=None)) as page:
        channel = _channel(page, db, str(old))
        if db.execute("SELECT 1 FROM room_log WHERE name = ?", (channel,)).fetchone() is None:
            page.execute("BEGIN")
            _import_files(db, page)
            db.execute("BEGIN IMMEDIATE")
            try:
                _import_rows(db, page, channel)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.take_back()
                raise
            page.execute("ROLLBACK")
            crashpoint("K26")
            log.info("The chat page of %s is part of the store now", old)
    for suffix in ("", "-wal", "-shm"):
        beside = Path(f"{old}{suffix}")
        if beside.exists():
            os.replace(beside, f"{old}.taken{suffix}")


def _channel(page: sqlite3.Connection, db: Connection, where: str) -> str:
    """The name of the page's channel, from its events."""
    found = page.execute("SELECT version FROM journal").fetchone()
    if found is None or found[0] > VERSION:
        raise StoreUnavailable("foreign" if found is None else "newer", where)
    if found[0] < VERSION:
        page.executescript(_AS_VERSION_2)
    row = page.execute("SELECT inbound FROM events WHERE inbound IS NOT NULL ORDER BY seq DESC LIMIT 1").fetchone()
    return CHANNEL if row is None else _unpack(row[0]).channel


def _import_files(db: Connection, page: sqlite3.Connection) -> None:
    now = micros(datetime.now(UTC))
    keys = dict(page.execute("SELECT upload, part FROM sent_files"))
    for id, called, mime, size, person in page.execute("SELECT id, name, mime, size, person FROM files WHERE whole"):
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM blob_chunk WHERE blob = ?", (id,))
        row = (id, keys.get(id), person, size, now, blob_body(called, mime))
        db.execute("INSERT OR REPLACE INTO blob (id, key, owner, size, unnamed, body) VALUES (?, ?, ?, ?, ?, ?)", row)
        db.execute("COMMIT")
        pieces = page.execute("SELECT number, content FROM file_pieces WHERE file = ? ORDER BY number", (id,))
        for number, content in pieces:
            db.execute("INSERT INTO blob_chunk (blob, number, body) VALUES (?, ?, ?)", (id, number, seal(content)))
        crashpoint("K26")
        db.execute("UPDATE blob SET whole = 1 WHERE id = ?", (id,))


def _import_rows(db: Connection, page: sqlite3.Connection, channel: str) -> None:
    id, token, taken, address, agents = page.execute("SELECT id, token, taken, address, agents FROM journal").fetchone()
    (last,) = page.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
    db.execute("INSERT INTO room_log (name, id, seq) VALUES (?, ?, ?)", (channel, id, last))
    _take_facts(db, page, channel, {"token": token, "address": address, "agents": agents})
    for room, kind, title, members, person in page.execute(
        "SELECT id, kind, title, agents, person FROM rooms ORDER BY rowid"
    ):
        body = _json(id=room, kind=kind, title=title, agents=msgspec.json.decode(members))
        db.execute("INSERT INTO room (log, id, person, body) VALUES (?, ?, ?, ?)", (channel, room, person, seal(body)))
    _take_messages(db, page, channel)
    for seq, audience, frame in page.execute(
        "SELECT seq, audience, frame FROM events WHERE frame IS NOT NULL ORDER BY seq"
    ):
        db.execute("INSERT INTO room_event VALUES (?, ?, ?, ?)", (channel, seq, audience, seal(frame.encode())))
    marks = page.execute("SELECT person, room, seq FROM reads")
    db.executemany("INSERT INTO room_mark VALUES (?, ?, ?, ?)", ((channel, *mark) for mark in marks))
    _import_unheard(db, page, channel, taken)


def _take_facts(db: Connection, page: sqlite3.Connection, channel: str, about: dict[str, str | None]) -> None:
    facts = [("page", key, value.encode()) for key, value in about.items() if value is not None]
    facts += [("people", id, called.encode()) for id, called in page.execute("SELECT id, name FROM people")]
    facts += [
        ("done", f"{person} {client}", result.encode())
        for person, client, result in page.execute("SELECT person, client, result FROM requests")
    ]
    facts += [
        ("logins", id, _json(person={"id": id, "name": called}, token=token, made=made))
        for id, called, token, made in page.execute("SELECT person, name, token, made FROM logins")
    ]
    rows = ((scope_of(channel, kind), key, seal(body)) for kind, key, body in facts)
    db.executemany("INSERT INTO fact VALUES (?, ?, ?)", rows)


def _take_messages(db: Connection, page: sqlite3.Connection, channel: str) -> None:
    reactions: dict[str, dict[str, list[str]]] = {}
    for message, emoji, who in page.execute("SELECT message, emoji, who FROM reactions ORDER BY seq"):
        reactions.setdefault(message, {}).setdefault(emoji, []).append(who)
    columns = (
        "seq, id, room, thread, author, at, text, folded, details, audience, only_for, part, state, edited, deleted"
    )
    sql = (
        "INSERT INTO room_entry (log, seq, id, room, thread, author, at, words, audience, private, counted, answers, "
        "key, state, version, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)"
    )
    for row in page.execute(f"SELECT {columns} FROM messages ORDER BY seq"):
        seq, id, room, thread, author, at, text, folded, packed, audience, only_for, part, state, edited, deleted = row
        details: dict[str, Any] = msgspec.json.decode(packed)
        given = [{"emoji": emoji, "who": who} for emoji, who in reactions.get(id, {}).items()]
        more = {"thread": thread, "only_for": only_for or "", "edited": bool(edited), "reactions": given}
        body = _json(id=id, room=room, author=author, at=at, seq=0, text=text, **more, **details)
        flags = (only_for is not None, "note" not in details, details.get("answers", ""))
        state = "deleted" if deleted else state
        values = (channel, seq, id, room, thread or "", author, at * 1000, folded, audience, *flags, part, state)
        db.execute(sql, (*values, seal(body)))
    for file, message in page.execute("SELECT file, message FROM file_uses").fetchall():
        if db.execute("SELECT 1 FROM blob WHERE id = ? AND whole = 1", (file,)).fetchone() is not None:
            name(db, f"entry/{channel}/{message}", (file,))


def _import_unheard(db: Connection, page: sqlite3.Connection, channel: str, taken: int) -> None:
    """Imports messages that the gateway has not read yet, according to the gateway and not to the page."""
    row = db.execute("SELECT body FROM cursor WHERE channel = ? AND name = 'read'", (channel,)).fetchone()
    after = int(unseal(row[0])) if row is not None else taken
    sql = "SELECT inbound FROM events WHERE seq > ? AND inbound IS NOT NULL ORDER BY seq"
    heard = tuple(_unpack(packed) for (packed,) in page.execute(sql, (after,)))
    accept(db, Accept(heard, datetime.now(UTC)))


def _json(**fields: object) -> bytes:
    return msgspec.json.encode(fields)
