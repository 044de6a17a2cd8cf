"""Verbs of inbound events: each is accepted once, decided once, and routed to each session once."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec.structs import replace

from rejoinder.errors import Unreadable
from rejoinder.events import Inbound
from rejoinder.session import shard_of
from rejoinder.store.base import (
    Accept,
    CountEventAttempts,
    DropInputs,
    InboxEvent,
    MoveCursor,
    MoveEvent,
    PutUnderstood,
    QuarantineEvent,
    ReadmitEvent,
    RequestEventRerun,
    ReviseInput,
    RouteEvent,
    SettleEvent,
    StoredCursor,
    SummariseInputs,
    TakeBackEventAttempts,
)
from rejoinder.store.sql.connection import Insertion, SqlConnection
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sql.hook_events import insert_hook_events
from rejoinder.store.sql.values import (
    EVENT,
    as_written,
    event_from,
    micros,
    place_of,
    seal,
    session_shard,
    unpack_inbound,
)

EVENT_ROW = Insertion("inbox", "channel", "account", "event", "message", "sender", "accepted", "shard", "body")


def accept(db: SqlConnection, verb: Accept) -> tuple[InboxEvent, ...]:
    now = micros(verb.now)
    put: list[tuple[Callable[[], int | None], Inbound, int]] = []
    for index, inbound in enumerate(verb.events):
        home = verb.homes[index] if verb.homes else ""
        written, body = as_written(inbound)
        shard = _where_decided(db, written, place_of(db, written.route, home), home)
        known = (written.channel, written.account, written.event_id, written.message_id, written.sender.id)
        number = db.insert_later(EVENT_ROW, (*known, now, shard, body))
        put.append((number, written, shard))
        if verb.tells and number() is not None:
            insert_hook_events(db, verb.tells[index])
    for cursor in verb.places if verb.cursor is None else (verb.cursor, *verb.places):
        _keep_cursor(db, cursor)

    def new(numbers: Iterable[int | None]) -> tuple[InboxEvent, ...]:
        found = zip(numbers, put, strict=True)
        return tuple(
            [InboxEvent(id, event, verb.now, shard=shard) for id, (_, event, shard) in found if id is not None]
        )

    def look_up(again: SqlConnection) -> tuple[InboxEvent, ...]:
        keys = ((event.channel, event.account, event.event_id, now) for _, event, _ in put)
        found = [again.execute(ACCEPTED, key).fetchone() for key in keys]
        return new(row[0] if row else None for row in found)

    return db.later(lambda: new([number() for number, _, _ in put]), look_up)


def _where_decided(db: SqlConnection, inbound: Inbound, place: int, home: str) -> int:
    """The shard that decides an event: that of its session, even if its place has another home (SC-1)."""
    if db.shards == 1:
        return 0
    if home:
        return shard_of(home, db.shards)
    if inbound.entry == "delete":  # a deletion names nobody: it goes where its message went
        sql = "SELECT shard, body FROM inbox WHERE message = ? AND channel = ? AND account = ? ORDER BY id"
        for shard, body in db.execute(sql, (inbound.message_id, inbound.channel, inbound.account)).fetchall():
            with suppress(Unreadable, Damaged):
                if unpack_inbound(body).chat.id == inbound.chat.id:
                    return shard
    return db.shard_of_place(place)


ACCEPTED = "SELECT id FROM inbox WHERE channel = ? AND account = ? AND event = ? AND accepted = ?"
"""The time of acceptance tells new events from known ones, which were accepted earlier."""


def move_cursor(db: SqlConnection, verb: MoveCursor) -> None:
    _keep_cursor(db, verb.cursor)


KEEP_CURSOR = "ON CONFLICT (channel, account, name) DO UPDATE SET body = excluded.body"
HELD = "WHERE EXISTS (SELECT 1 FROM named_lease WHERE name = ? AND generation = ?)"
"""Only the process that listens now moves the cursor. The messages are stored anyway, and are recognised if they come
again."""


def _keep_cursor(db: SqlConnection, cursor: StoredCursor) -> None:
    # Not every cursor grows: a platform may restart its numbers, and a token has no order at all.
    row = (cursor.channel, cursor.account, cursor.name, seal(cursor.value.encode()))
    if (lease := cursor.lease) is None:
        db.change(f"INSERT INTO cursor VALUES (?, ?, ?, ?) {KEEP_CURSOR}", row)
    else:
        sql = f"INSERT INTO cursor SELECT ?, ?, ?, ? {HELD} {KEEP_CURSOR}"
        db.change(sql, (*row, lease.name, lease.generation))


def move_event(db: SqlConnection, verb: MoveEvent) -> None:
    sql = "UPDATE inbox SET shard = ? WHERE id = ? AND state = 'new'"
    db.move(sql, (shard_of(verb.home, db.shards), verb.event), "event %s", verb.event)


def count_event_attempts(db: SqlConnection, verb: CountEventAttempts) -> None:
    sql = "UPDATE inbox SET attempts = attempts + 1, trying = 1 WHERE id = ? AND state = 'new'"
    for event in verb.events:
        db.move(sql, (event,), "event %s", event)


def take_back_event_attempts(db: SqlConnection, verb: TakeBackEventAttempts) -> None:
    sql = "UPDATE inbox SET attempts = attempts - 1, trying = 0 WHERE id = ? AND state = 'new' AND attempts > 0"
    db.executemany(sql, ((event,) for event in verb.events))


def route_event(db: SqlConnection, verb: RouteEvent) -> None:
    sql = "UPDATE inbox SET state = 'routed' WHERE id = ? AND state = 'new'"
    db.move(sql, (verb.event,), "event %s", verb.event)
    for to in verb.to:
        put_input(db, verb.event, to.session, to.payload)


def put_input(db: SqlConnection, event: int, session: str, payload: bytes, turn: int | None = None) -> None:
    """The event enters the session, in this turn or to wait for one."""
    state = "waiting" if turn is None else "taken"
    row = (event, session, session_shard(db, session), state, turn, seal(payload))
    db.change("INSERT INTO turn_input (event, session, shard, state, turn, body) VALUES (?, ?, ?, ?, ?, ?)", row)


def put_understood(db: SqlConnection, verb: PutUnderstood) -> None:
    _, body = as_written(verb.inbound)
    sql = "UPDATE inbox SET body = ? WHERE id = ? AND state = 'new'"
    db.move(sql, (body, verb.event), "event %s", verb.event)


def quarantine_event(db: SqlConnection, verb: QuarantineEvent) -> None:
    sql = "UPDATE inbox SET state = 'quarantined', reason = ? WHERE id = ? AND state = 'new'"
    db.move(sql, (verb.reason, verb.event), "event %s", verb.event)


def request_event_rerun(db: SqlConnection, verb: RequestEventRerun) -> None:
    """Raises `Unreadable` for an event that cannot be read, because it would stay quarantined."""
    if (found := db.execute(f"SELECT {EVENT} FROM inbox WHERE id = ?", (verb.event,)).fetchone()) is not None:
        event_from(found)
    sql = "UPDATE inbox SET wanted = 1 WHERE id = ? AND state = 'quarantined'"
    db.move(sql, (verb.event,), "event %s", verb.event)


def readmit_event(db: SqlConnection, verb: ReadmitEvent) -> InboxEvent:
    found = db.execute(f"SELECT {EVENT} FROM inbox WHERE id = ?", (verb.event,)).fetchone()
    sql = (
        "UPDATE inbox SET state = 'new', reason = '', attempts = 0, alone = 0, trying = 0, wanted = 0 "
        "WHERE id = ? AND state = 'quarantined'"
    )
    db.move(sql, (verb.event,), "event %s", verb.event)
    return replace(event_from(found), state="new", reason="", attempts=0, alone=0)


def settle_event(db: SqlConnection, verb: SettleEvent) -> None:
    sql = "UPDATE inbox SET state = 'settled', reason = ?, overheard = ? WHERE id = ? AND state = 'new'"
    db.move(sql, (verb.reason, verb.overheard, verb.event), "event %s", verb.event)


def drop_inputs(db: SqlConnection, verb: DropInputs) -> None:
    sql = (
        "UPDATE turn_input SET state = 'dropped', reason = ? WHERE event = ? AND session = ? "
        "AND state IN ('waiting', 'summarised') AND turn IS NULL"
    )
    for event in verb.events:
        db.move(sql, (verb.reason, event, verb.session), "event %s in %s", event, verb.session)


def revise_input(db: SqlConnection, verb: ReviseInput) -> None:
    sql = "UPDATE turn_input SET body = ? WHERE event = ? AND session = ? AND state = 'waiting'"
    db.move(sql, (seal(verb.payload), verb.event, verb.session), "event %s in %s", verb.event, verb.session)


def summarise_inputs(db: SqlConnection, verb: SummariseInputs) -> None:
    sql = "UPDATE turn_input SET state = 'summarised' WHERE event = ? AND session = ? AND state = 'waiting'"
    for event in verb.events:
        db.move(sql, (event, verb.session), "event %s in %s", event, verb.session)
