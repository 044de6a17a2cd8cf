"""Verbs of what comes in: each event is accepted once, decided once, and once in each session."""

from itertools import zip_longest

from msgspec.structs import replace

from rejoinder.events import Inbound
from rejoinder.store.base import (
    Accept,
    DropInputs,
    InboxEvent,
    KeepUnderstood,
    MoveCursor,
    NamedLease,
    QuarantineEvent,
    ReadmitEvent,
    ReleaseEvents,
    ReviseInput,
    RouteEvent,
    SettleEvent,
    StoredCursor,
    SummariseInputs,
    TryEvents,
    WantEvent,
)
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.hook_events import put_hook_events
from rejoinder.store.sql.values import EVENT, as_written, event_from, micros, moved, place_of, seal, session_shard


def accept(db: SqlConnection, verb: Accept) -> tuple[InboxEvent, ...]:
    now = micros(verb.now)
    new: list[InboxEvent] = []
    for index, (inbound, home) in enumerate(zip_longest(verb.events, verb.homes, fillvalue="")):
        assert isinstance(inbound, Inbound), "there are no more homes than events"
        written, body = as_written(inbound)
        shard = db.shard_of_place(place_of(db, written.route, home))
        id = db.insert(
            "inbox",
            channel=written.channel,
            account=written.account,
            event=written.event_id,
            message=written.message_id,
            sender=written.sender.id,
            accepted=now,
            shard=shard,
            body=body,
        )
        if id is not None:
            new.append(InboxEvent(id, written, verb.now, shard=shard))
            if verb.tells:
                put_hook_events(db, verb.tells[index])
    for cursor in verb.places if verb.cursor is None else (verb.cursor, *verb.places):
        _keep_cursor(db, cursor)
    return tuple(new)


def move_cursor(db: SqlConnection, verb: MoveCursor) -> None:
    _keep_cursor(db, verb.cursor)


def _keep_cursor(db: SqlConnection, cursor: StoredCursor) -> None:
    if cursor.lease is not None and not _holds(db, cursor.lease):
        return  # whoever listens now keeps the cursor; what was heard is stored, and is recognised if it comes again
    # Not every cursor grows: a platform may restart its numbers, a token has no order at all.
    db.execute(
        "INSERT INTO cursor VALUES (?, ?, ?, ?) "
        "ON CONFLICT (channel, account, name) DO UPDATE SET body = excluded.body",
        (cursor.channel, cursor.account, cursor.name, seal(cursor.value.encode())),
    )


def _holds(db: SqlConnection, lease: NamedLease) -> bool:
    sql = "SELECT 1 FROM named_lease WHERE name = ? AND generation = ?"
    return db.execute(sql, (lease.name, lease.generation)).fetchone() is not None


def try_events(db: SqlConnection, verb: TryEvents) -> None:
    sql = "UPDATE inbox SET attempts = attempts + 1, trying = 1 WHERE id = ? AND state = 'new'"
    for event in verb.events:
        moved(db, sql, (event,), f"event {event}")


def release_events(db: SqlConnection, verb: ReleaseEvents) -> None:
    sql = "UPDATE inbox SET attempts = attempts - 1, trying = 0 WHERE id = ? AND state = 'new' AND attempts > 0"
    db.executemany(sql, ((event,) for event in verb.events))


def route_event(db: SqlConnection, verb: RouteEvent) -> None:
    sql = "UPDATE inbox SET state = 'routed' WHERE id = ? AND state = 'new'"
    moved(db, sql, (verb.event,), f"event {verb.event}")
    db.executemany(
        "INSERT INTO turn_input (event, session, shard, body) VALUES (?, ?, ?, ?)",
        ((verb.event, to.session, session_shard(db, to.session), seal(to.payload)) for to in verb.to),
    )


def keep_understood(db: SqlConnection, verb: KeepUnderstood) -> None:
    _, body = as_written(verb.inbound)
    sql = "UPDATE inbox SET body = ? WHERE id = ? AND state = 'new'"
    moved(db, sql, (body, verb.event), f"event {verb.event}")


def quarantine_event(db: SqlConnection, verb: QuarantineEvent) -> None:
    sql = "UPDATE inbox SET state = 'quarantined', reason = ? WHERE id = ? AND state = 'new'"
    moved(db, sql, (verb.reason, verb.event), f"event {verb.event}")


def want_event(db: SqlConnection, verb: WantEvent) -> None:
    """One that cannot be read would stay quarantined: `Unreadable` is raised."""
    if (found := db.execute(f"SELECT {EVENT} FROM inbox WHERE id = ?", (verb.event,)).fetchone()) is not None:
        event_from(found)
    sql = "UPDATE inbox SET wanted = 1 WHERE id = ? AND state = 'quarantined'"
    moved(db, sql, (verb.event,), f"event {verb.event}")


def readmit_event(db: SqlConnection, verb: ReadmitEvent) -> InboxEvent:
    found = db.execute(f"SELECT {EVENT} FROM inbox WHERE id = ?", (verb.event,)).fetchone()
    sql = (
        "UPDATE inbox SET state = 'new', reason = '', attempts = 0, alone = 0, trying = 0, wanted = 0 "
        "WHERE id = ? AND state = 'quarantined'"
    )
    moved(db, sql, (verb.event,), f"event {verb.event}")
    return replace(event_from(found), state="new", reason="", attempts=0, alone=0)


def settle_event(db: SqlConnection, verb: SettleEvent) -> None:
    sql = "UPDATE inbox SET state = 'settled', reason = ?, overheard = ? WHERE id = ? AND state = 'new'"
    moved(db, sql, (verb.reason, verb.overheard, verb.event), f"event {verb.event}")


def drop_inputs(db: SqlConnection, verb: DropInputs) -> None:
    sql = (
        "UPDATE turn_input SET state = 'dropped', reason = ? WHERE event = ? AND session = ? "
        "AND state IN ('waiting', 'summarised') AND turn IS NULL"
    )
    for event in verb.events:
        moved(db, sql, (verb.reason, event, verb.session), f"event {event} in {verb.session}")


def revise_input(db: SqlConnection, verb: ReviseInput) -> None:
    sql = "UPDATE turn_input SET body = ? WHERE event = ? AND session = ? AND state = 'waiting'"
    moved(db, sql, (seal(verb.payload), verb.event, verb.session), f"event {verb.event} in {verb.session}")


def summarise_inputs(db: SqlConnection, verb: SummariseInputs) -> None:
    sql = "UPDATE turn_input SET state = 'summarised' WHERE event = ? AND session = ? AND state = 'waiting'"
    for event in verb.events:
        moved(db, sql, (event, verb.session), f"event {event} in {verb.session}")
