"""Verbs and reads of room logs and facts."""

from typing import Any

from rejoinder.room_log import (
    Changes,
    Find,
    LogState,
    Mark,
    Overview,
    Replies,
    RoomEntries,
    RoomEntry,
    RoomEvent,
    RoomRow,
    RoomView,
)
from rejoinder.store.base import OpenLog, PutFact, RecordChanges
from rejoinder.store.rooms import KEPT_EVENTS, scope_of
from rejoinder.store.sql.blobs import forget_names, name
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.values import Row, instant, micros, seal, unseal

TRIMMED_EVERY = 500
"""After this many events the ones that are too old are removed."""


def open_log(db: SqlConnection, verb: OpenLog) -> LogState:
    db.change("INSERT INTO room_log (name, id) VALUES (?, ?) ON CONFLICT DO NOTHING", (verb.log, verb.id))
    state = log_state(db, verb.log)
    assert state is not None, "it was just made"
    return state


def record_changes(db: SqlConnection, verb: RecordChanges) -> int:
    log, changes, now = verb.log, verb.changes, micros(verb.now)
    if changes.once is not None:
        sql = "INSERT INTO fact (scope, key, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        row = (scope_of(log, changes.once.kind), changes.once.key, seal(changes.once.result))
        db.move(sql, row, "the request %r", changes.once.key)
    for fact in changes.facts:
        _put_fact(db, scope_of(log, fact.kind), fact.key, fact.body)
    return _record(db, log, changes, now)


def _record(db: SqlConnection, log: str, changes: Changes, now: int) -> int:
    count = len(changes.events)
    sql = "UPDATE room_log SET seq = seq + ? WHERE name = ?"
    if count:
        db.move(sql, (count, log), "the log %s", log)
    (last,) = db.execute("SELECT seq FROM room_log WHERE name = ?", (log,)).fetchone()
    first = last - count + 1
    for seq, event in enumerate(changes.events, first):
        match event.change:
            case RoomRow():
                _put_room(db, log, event.change)
            case RoomEntry():
                _put_entry(db, log, seq, event.change, now)
            case Mark():
                _put_mark(db, log, event.change)
            case None:
                pass
        db.change("INSERT INTO room_event VALUES (?, ?, ?, ?)", (log, seq, event.audience, seal(event.body)))
    if last // TRIMMED_EVERY != (last - count) // TRIMMED_EVERY:
        db.change("DELETE FROM room_event WHERE log = ? AND seq <= ?", (log, last - KEPT_EVENTS))
    return first


def _put_room(db: SqlConnection, log: str, room: RoomRow) -> None:
    sql = (
        "INSERT INTO room (log, id, person, body) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (log, id) DO UPDATE SET body = excluded.body"
    )
    db.change(sql, (log, room.id, room.person, seal(room.body)))


def _put_entry(db: SqlConnection, log: str, seq: int, entry: RoomEntry, now: int) -> None:
    row = (entry.text, entry.state, seal(entry.body), entry.counted)
    if entry.version:
        sql = (
            "UPDATE room_entry SET words = ?, state = ?, body = ?, counted = ?, version = version + 1 "
            "WHERE log = ? AND id = ? AND version = ?"
        )
        db.move(sql, (*row, log, entry.id, entry.version), "the message %s", entry.id)
        forget_names(db, _namer(log, entry), now, keep=entry.blobs)
    else:
        sql = (
            "INSERT INTO room_entry (words, state, body, counted, version, log, seq, id, room, thread, author, at, "
            "audience, private, answers, key) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING"
        )
        place = (log, seq, entry.id, entry.room, entry.thread, entry.author, micros(entry.at))
        more = (entry.audience, entry.private, entry.answers, entry.key)
        db.move(sql, (*row, *place, *more), "the message %s", entry.id)
    name(db, _namer(log, entry), entry.blobs)


def _namer(log: str, entry: RoomEntry) -> str:
    return f"entry/{log}/{entry.id}"


def _put_mark(db: SqlConnection, log: str, mark: Mark) -> None:
    sql = (
        "INSERT INTO room_mark VALUES (?, ?, ?, ?) ON CONFLICT (log, person, room) DO UPDATE SET seq = excluded.seq "
        "WHERE excluded.seq > room_mark.seq"
    )
    db.move(sql, (log, mark.person, mark.room, mark.seq), "the mark of %s", mark.person)


def put_fact(db: SqlConnection, verb: PutFact) -> None:
    _put_fact(db, verb.scope, verb.key, verb.body)


def _put_fact(db: SqlConnection, scope: str, key: str, body: bytes | None) -> None:
    if body is None:
        db.change("DELETE FROM fact WHERE scope = ? AND key = ?", (scope, key))
    else:
        sql = "INSERT INTO fact VALUES (?, ?, ?) ON CONFLICT (scope, key) DO UPDATE SET body = excluded.body"
        db.change(sql, (scope, key, seal(body)))


# --- reads --------------------------------------------------------------------------------------

ENTRY = (
    "seq, id, room, thread, author, at, words, audience, private, counted, answers, key, state, version, body, "
    "(SELECT group_concat(blob, ' ') FROM blob_use WHERE named_by = 'entry/' || log || '/' || id)"
)


def _entry(row: Row) -> RoomEntry:
    (
        seq,
        id,
        room,
        thread,
        author,
        at,
        words,
        audience,
        private,
        counted,
        answers,
        key,
        state,
        version,
        body,
        blobs,
    ) = row
    return RoomEntry(
        id=id,
        room=room,
        author=author,
        at=instant(at),
        body=unseal(body),
        thread=thread,
        text=words,
        audience=audience,
        private=bool(private),
        counted=bool(counted),
        answers=answers,
        key=key,
        state=state,
        blobs=tuple(blobs.split(" ")) if blobs else (),
        version=version,
        seq=seq,
    )


def logs(db: SqlConnection) -> tuple[str, ...]:
    return tuple(name for (name,) in db.execute("SELECT name FROM room_log ORDER BY name"))


def log_state(db: SqlConnection, log: str) -> LogState | None:
    row = db.execute("SELECT id, seq FROM room_log WHERE name = ?", (log,)).fetchone()
    return None if row is None else LogState(*row)


def log_room(db: SqlConnection, log: str, id: str) -> RoomRow | None:
    row = db.execute("SELECT id, person, body FROM room WHERE log = ? AND id = ?", (log, id)).fetchone()
    return None if row is None else RoomRow(row[0], row[1], unseal(row[2]))


def log_entry(db: SqlConnection, log: str, id: str) -> RoomEntry | None:
    row = db.execute(f"SELECT {ENTRY} FROM room_entry WHERE log = ? AND id = ?", (log, id)).fetchone()
    return None if row is None else _entry(row)


def log_entry_under(db: SqlConnection, log: str, key: str) -> RoomEntry | None:
    row = db.execute(f"SELECT {ENTRY} FROM room_entry WHERE log = ? AND key = ?", (log, key)).fetchone()
    return None if row is None else _entry(row)


def log_growing(db: SqlConnection, log: str, shard: int | None = None) -> tuple[RoomEntry, ...]:
    """`shard`: only in rooms whose home is there."""
    growing, values = "log = ? AND state = 'growing'", list[str | int]((log,))
    if shard is not None and db.shards > 1:
        growing += " AND room IN (SELECT chat FROM place WHERE channel = ? AND shard = ?)"
        values += [log, shard]
    sql = f"SELECT {ENTRY} FROM room_entry WHERE {growing} ORDER BY seq"
    return tuple(map(_entry, db.execute(sql, tuple(values))))


SEEN = "state <> 'deleted' AND (audience IS NULL OR audience = ?)"


def log_find(db: SqlConnection, log: str, wanted: Find) -> RoomEntries:
    asked: list[tuple[str, tuple[Any, ...]]] = [("log = ?", (log,)), ("state <> 'deleted'", ())]
    if wanted.room is not None:
        asked.append(("room = ?", (wanted.room,)))
    if wanted.thread is not None:
        asked.append(("thread = ?", (wanted.thread,)))
    if wanted.before is not None:
        asked.append(("seq < ?", (wanted.before,)))
    if wanted.after is not None:
        asked.append(("seq > ?", (wanted.after,)))
    if wanted.answers:
        asked.append(("answers = ? AND answers <> ''", (wanted.answers,)))
    if wanted.authors:
        asked.append((f"author IN ({', '.join('?' * len(wanted.authors))})", wanted.authors))
    asked += [("words LIKE ? ESCAPE '\\'", (f"%{_literal(word)}%",)) for word in wanted.words]
    if not wanted.everything:
        asked.append(("(audience IS NULL OR audience = ?)", (wanted.person,)))
    if wanted.plain:
        asked.append(("counted = 1 AND private = 0 AND state <> 'growing'", ()))
    where = " AND ".join(condition for condition, _ in asked)
    values = [value for _, given in asked for value in given]
    order = "seq" if wanted.oldest_first else "seq DESC"
    sql = f"SELECT {ENTRY} FROM room_entry WHERE {where} ORDER BY {order} LIMIT ?"
    return _page(db.execute(sql, (*values, wanted.limit + 1)), wanted)


def _literal(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _page(rows: Any, wanted: Find) -> RoomEntries:
    entries: list[RoomEntry] = []
    left = wanted.bytes
    for row in rows:
        entry = _entry(row)
        left -= len(entry.body)
        if len(entries) == wanted.limit or (entries and left < 0):
            return RoomEntries(tuple(entries), more=True)
        entries.append(entry)
    return RoomEntries(tuple(entries), more=False)


def log_replies(db: SqlConnection, log: str, threads: tuple[str, ...], person: str) -> dict[str, Replies]:
    places = ", ".join("?" * len(threads))
    sql = (
        f"SELECT thread, count(*), max(at) FROM room_entry WHERE log = ? AND thread IN ({places}) AND thread <> '' "
        f"AND counted = 1 AND {SEEN} GROUP BY thread"
    )
    rows = db.execute(sql, (log, *threads, person))
    return {thread: Replies(count, instant(latest)) for thread, count, latest in rows}


def log_overview(db: SqlConnection, log: str, person: str, since: int | None, most: int) -> Overview:
    state = log_state(db, log)
    assert state is not None, "a log is opened before it is read"
    sql = (
        "SELECT room.id, room.person, room.body, coalesce(room_mark.seq, 0) FROM room "
        "LEFT JOIN room_mark ON room_mark.log = room.log AND room_mark.person = ? AND room_mark.room = room.id "
        "WHERE room.log = ? AND (room.person IS NULL OR room.person = ?) ORDER BY room.number"
    )
    rows = db.execute(sql, (person, log, person)).fetchall()
    views = tuple(_view(db, log, person, RoomRow(id, whose, unseal(body)), read) for id, whose, body, read in rows)
    return Overview(state, views, None if since is None else _missed(db, log, person, since, most))


def _view(db: SqlConnection, log: str, person: str, room: RoomRow, read: int) -> RoomView:
    sql = (
        "SELECT count(*) FROM room_entry WHERE log = ? AND room = ? AND seq > ? AND author <> ? AND counted = 1 "
        f"AND {SEEN}"
    )
    (unread,) = db.execute(sql, (log, room.id, read, person, person)).fetchone()
    last = (
        f"SELECT {ENTRY} FROM room_entry WHERE log = ? AND room = ? AND thread = '' AND counted = 1 AND {SEEN} "
        "ORDER BY seq DESC LIMIT 1"
    )
    row = db.execute(last, (log, room.id, person)).fetchone()
    return RoomView(room, read, unread, None if row is None else _entry(row))


def _missed(db: SqlConnection, log: str, person: str, since: int, most: int) -> tuple[RoomEvent, ...] | None:
    (first,) = db.execute("SELECT min(seq) FROM room_event WHERE log = ?", (log,)).fetchone()
    if first is None or since < first - 1:
        return None
    sql = (
        "SELECT seq, audience, body FROM room_event WHERE log = ? AND seq > ? AND (audience IS NULL OR audience = ?) "
        "ORDER BY seq LIMIT ?"
    )
    rows = db.execute(sql, (log, since, person, most + 1)).fetchall()
    return tuple(map(_event, rows)) if len(rows) <= most else None


def log_events(db: SqlConnection, log: str, after: int, most: int) -> tuple[RoomEvent, ...]:
    sql = "SELECT seq, audience, body FROM room_event WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?"
    return tuple(map(_event, db.execute(sql, (log, after, most))))


def _event(row: Row) -> RoomEvent:
    seq, audience, body = row
    return RoomEvent(seq=seq, audience=audience, body=unseal(body))


def log_mark(db: SqlConnection, log: str, person: str, room: str) -> int:
    sql = "SELECT seq FROM room_mark WHERE log = ? AND person = ? AND room = ?"
    row = db.execute(sql, (log, person, room)).fetchone()
    return 0 if row is None else row[0]


def fact(db: SqlConnection, scope: str, key: str) -> bytes | None:
    row = db.execute("SELECT body FROM fact WHERE scope = ? AND key = ?", (scope, key)).fetchone()
    return None if row is None else unseal(row[0])


def facts(db: SqlConnection, scope: str) -> dict[str, bytes]:
    rows = db.execute("SELECT key, body FROM fact WHERE scope = ? ORDER BY key", (scope,))
    return {key: unseal(body) for key, body in rows}
