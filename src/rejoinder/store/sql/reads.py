"""The reads of the contract, each a function of a connection."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar

from rejoinder.errors import Unreadable
from rejoinder.events import Route
from rejoinder.store.base import (
    IN_FLIGHT,
    OPEN_PART_STATES,
    AccessRows,
    AgentSession,
    AllowEdit,
    InboxEvent,
    IndexedMessage,
    Input,
    OpenTurn,
    Paired,
    PairingRequest,
    PartState,
    PlaceFacts,
    RowCounts,
    StoredPart,
    StoredSession,
    TraceEntry,
    TranscriptEntry,
    Workload,
)
from rejoinder.store.sql.connection import Rows, SqlConnection
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sql.memory import (
    PAIRING_COLUMNS,
    QUARANTINE_MARK,
    pairing_request_from,
    unpack_agent_session,
    unpack_entry,
    unpack_session,
    unpack_steps,
)
from rejoinder.store.sql.messages import HANDLE
from rejoinder.store.sql.outbox import any_of
from rejoinder.store.sql.values import (
    EVENT,
    INPUT,
    MESSAGE,
    PART,
    PLACE,
    TURN,
    day_of,
    event_from,
    find_place,
    input_from,
    instant,
    is_at_home,
    message_from,
    micros,
    part_from,
    route_from,
    turn_from,
    unseal,
)

T = TypeVar("T")

INPUTS = f"SELECT {INPUT} FROM turn_input i JOIN inbox ON inbox.id = i.event WHERE"
TURNS = f"SELECT {TURN} FROM turn JOIN place ON place.id = turn.place WHERE"
PARTS = f"SELECT {PART} FROM part JOIN place ON place.id = part.place WHERE"
UNTOLD = "i.turn IS NULL AND i.state IN ('waiting', 'summarised')"


def cursor(db: SqlConnection, channel: str, name: str, account: str) -> str | None:
    sql = "SELECT body FROM cursor WHERE channel = ? AND account = ? AND name = ?"
    return _text(db.execute(sql, (channel, account, name)))


def cursors(db: SqlConnection, channel: str, prefix: str, account: str) -> dict[str, str]:
    sql = "SELECT name, body FROM cursor WHERE channel = ? AND account = ? AND substr(name, 1, ?) = ?"
    found = db.execute(sql, (channel, account, len(prefix), prefix))
    return {name[len(prefix) :]: unseal(body).decode() for name, body in found}


def events_of(db: SqlConnection, message: str) -> tuple[InboxEvent, ...]:
    return tuple(map(event_from, db.execute(f"SELECT {EVENT} FROM inbox WHERE message = ? ORDER BY id", (message,))))


def inputs_of(db: SqlConnection, event: int) -> tuple[Input, ...]:
    return tuple(map(input_from, db.execute(f"{INPUTS} i.event = ? ORDER BY i.session", (event,))))


def trace(db: SqlConnection, event: int) -> tuple[TraceEntry, ...]:
    rows = db.execute("SELECT at, body FROM trace WHERE event = ? ORDER BY id", (event,))
    return tuple(TraceEntry(instant(at), unpack_steps(body)) for at, body in rows)


def waiting_inputs(db: SqlConnection, session: str) -> tuple[Input, ...]:
    return tuple(map(input_from, db.execute(f"{INPUTS} i.session = ? AND {UNTOLD} ORDER BY i.event", (session,))))


def turn(db: SqlConnection, id: int) -> OpenTurn | None:
    row = db.execute(f"{TURNS} turn.id = ?", (id,)).fetchone()
    if row is None:
        return None
    inputs = db.execute(f"{INPUTS} i.turn = ? ORDER BY i.event", (id,))
    parts = db.execute(f"{PARTS} part.turn = ? ORDER BY part.id", (id,))
    return OpenTurn(turn_from(row), tuple(map(input_from, inputs)), tuple(map(part_from, parts)))


def turns_since(db: SqlConnection, since: datetime, route: Route, sender: str | None) -> int:
    sql = (
        "SELECT count(*) FROM place JOIN turn ON turn.place = place.id AND turn.opened >= ? "
        "WHERE place.channel = ? AND place.account = ? AND place.chat = ? AND (CAST(? AS TEXT) IS NULL OR EXISTS "
        "(SELECT 1 FROM turn_input i JOIN inbox ON inbox.id = i.event WHERE i.turn = turn.id AND inbox.sender = ?))"
    )
    return _value(db.execute(sql, (micros(since), route.channel, route.account, route.chat, sender, sender)))


def parts_in(
    db: SqlConnection, states: tuple[PartState, ...], limit: int, latest_first: bool = False, shard: int | None = None
) -> tuple[StoredPart, ...]:
    # Selects the ids first, so that only the bodies of returned parts are read.
    order = "DESC" if latest_first else "ASC"
    wanted = f"SELECT id FROM part WHERE {in_states(states)} {of_shard('part', shard)} ORDER BY id {order} LIMIT ?"
    return tuple(map(part_from, db.execute(f"{PARTS} part.id IN ({wanted}) ORDER BY part.id {order}", (limit,))))


def count_parts(db: SqlConnection, states: tuple[PartState, ...]) -> int:
    return _value(db.execute(f"SELECT count(*) FROM part WHERE {in_states(states)}"))


def undecided_events(db: SqlConnection, limit: int, after: int, shard: int | None = None) -> tuple[InboxEvent, ...]:
    found: list[InboxEvent] = []
    here = of_shard("inbox", shard)
    new = f"SELECT {EVENT} FROM inbox WHERE state = 'new' {here} AND inbox.id > ? ORDER BY id LIMIT ?"
    is_all = False
    while not is_all and len(found) < limit:
        rows = db.execute(new, (after, limit)).fetchall()
        is_all = len(rows) < limit
        for row in rows:
            with suppress(Unreadable, Damaged):  # the next claim puts it into quarantine, or leaves it to others
                found.append(event_from(row))
            after = row[0]
    return tuple(found[:limit])


def of_shard(table: str, shard: int | None) -> str:
    return "" if shard is None else f"AND {table}.shard = {shard}"


def in_states(states: tuple[PartState, ...]) -> str:
    # Repeating the index's condition lets SQLite use it; parts that have ended are most of the table.
    covered = f"{any_of('part.state', OPEN_PART_STATES)} AND " if set(states) <= set(OPEN_PART_STATES) else ""
    return covered + any_of("part.state", states)


def session(db: SqlConnection, key: str) -> StoredSession | None:
    row = db.execute("SELECT body, version FROM session WHERE key = ?", (key,)).fetchone()
    try:
        return StoredSession(unpack_session(row[0]), row[1]) if row else None
    except Damaged as problem:  # not a fault of the whole store: only this session is replaced by a new one
        raise Unreadable(str(problem)) from None


def sessions(db: SqlConnection, limit: int) -> tuple[StoredSession, ...]:
    rows = db.execute(
        "SELECT body, version FROM session WHERE instr(key, ?) = 0 ORDER BY touched DESC, key LIMIT ?",
        (QUARANTINE_MARK, limit),
    )
    return tuple(StoredSession(unpack_session(body), version) for body, version in rows)


def agent_session(db: SqlConnection, key: str) -> AgentSession | None:
    body = _value(db.execute("SELECT body FROM agent_session WHERE session = ?", (key,)))
    return None if body is None else unpack_agent_session(body)


def transcript(db: SqlConnection, key: str, since: datetime, limit: int) -> tuple[TranscriptEntry, ...]:
    sql = "SELECT body FROM transcript WHERE session = ? AND at >= ? ORDER BY at DESC, id DESC LIMIT ?"
    return _in_order(unpack_entry(row[0]) for row in db.execute(sql, (key, micros(since), limit)))


def message(db: SqlConnection, route: Route, reference: str) -> IndexedMessage | None:
    place = find_place(db, route)
    by_id = db.execute(f"SELECT {MESSAGE} FROM message WHERE place = ? AND id = ?", (place, reference)).fetchone()
    if by_id is not None:
        return message_from(by_id)
    spoken = HANDLE.fullmatch(reference)
    if spoken is None:
        return None
    sql = f"SELECT {MESSAGE} FROM message WHERE place = ? AND number = ?"
    by_handle = db.execute(sql, (place, int(spoken[1]))).fetchone()
    return message_from(by_handle) if by_handle else None


def messages(db: SqlConnection, route: Route, after: int, limit: int) -> tuple[IndexedMessage, ...]:
    sql = f"SELECT {MESSAGE} FROM message WHERE place = ? AND number > ? ORDER BY number DESC LIMIT ?"
    return _in_order(map(message_from, db.execute(sql, (find_place(db, route), after, limit))))


def first_turn(db: SqlConnection, key: str, route: Route) -> int | None:
    sql = "SELECT min(id) FROM turn WHERE session = ? AND place = ? AND heard > 0"
    return _value(db.execute(sql, (key, find_place(db, route))))


ROUTED = (
    "SELECT coalesce(max(recent.number), 0) "
    "FROM (SELECT id, number FROM message WHERE place = ? ORDER BY number DESC LIMIT ?) AS recent "
    "WHERE EXISTS (SELECT 1 FROM inbox JOIN turn_input ON turn_input.event = inbox.id WHERE inbox.message = recent.id "
    "AND inbox.channel = ? AND inbox.account = ? AND turn_input.session = ?)"
)
"""The last of a place's latest messages that was routed to a session, even if its turn has not begun."""


def unheard_messages(db: SqlConnection, key: str, route: Route, limit: int) -> tuple[IndexedMessage, ...]:
    place = find_place(db, route)
    begun = "SELECT coalesce(max(heard), 0) FROM turn WHERE session = ? AND place = ?"
    heard = _value(db.execute(begun, (key, place)))
    routed = _value(db.execute(ROUTED, (place, limit, route.channel, route.account, key)))
    return messages(db, route, max(heard, routed), limit)


def place(db: SqlConnection, route: Route, today: datetime, asking: int | None = None) -> PlaceFacts:
    """`asking`: the shard of the engine that reads."""
    sql = (
        "SELECT owned, posted, other_bot, bot_turns, CASE WHEN bot_day = ? THEN bot_today ELSE 0 END "
        "FROM place WHERE id = ?"
    )
    row = db.execute(sql, (day_of(today), find_place(db, route))).fetchone()
    elsewhere = asking is not None and db.shards > 1 and not is_at_home(db, route, asking)
    if row is None:
        return PlaceFacts(elsewhere=elsewhere)
    owned, posted, other_bot, in_a_row, of_today = row
    return PlaceFacts(bool(owned), bool(posted), bool(other_bot), in_a_row, of_today, elsewhere)


def pairing_requests(db: SqlConnection, channel: str, account: str) -> tuple[PairingRequest, ...]:
    sql = f"SELECT {PAIRING_COLUMNS} FROM knock WHERE channel = ? AND account = ? ORDER BY asked, sender"
    return tuple(map(pairing_request_from, db.execute(sql, (channel, account))))


def paired(db: SqlConnection, channel: str) -> tuple[Paired, ...]:
    sql = "SELECT channel, account, sender FROM paired WHERE channel = ? ORDER BY since"
    return tuple(Paired(*row) for row in db.execute(sql, (channel,)))


def allow_edits(db: SqlConnection, channel: str) -> tuple[AllowEdit, ...]:
    rows = db.execute("SELECT entry, listed FROM allow_edit WHERE channel = ? ORDER BY id", (channel,))
    return tuple(AllowEdit(channel, entry, bool(listed)) for entry, listed in rows)


def admission(db: SqlConnection, channel: str, account: str) -> AccessRows:
    return AccessRows(paired(db, channel), allow_edits(db, channel), pairing_requests(db, channel, account))


def workload(db: SqlConnection) -> Workload:
    runs = _value(db.execute("SELECT count(*) FROM run"))
    waiting = f"SELECT count(*) FROM turn_input i INDEXED BY turn_input_untold WHERE {UNTOLD} AND i.state = 'waiting'"
    parts = (
        f"SELECT state, count(*) FROM part INDEXED BY part_unended WHERE {in_states(OPEN_PART_STATES)} GROUP BY state"
    )
    counts = (f"SELECT count(*) FROM {table} WHERE state = 'quarantined'" for table in ("inbox", "turn"))
    quarantined = sum([_value(db.execute(count)) for count in counts])
    return Workload(runs, _value(db.execute(waiting)), dict(db.execute(parts)), quarantined)


def count_rows(db: SqlConnection) -> RowCounts:
    def by_state(table: str) -> dict[str, int]:
        return dict(db.execute(f"SELECT state, count(*) FROM {table} GROUP BY state"))

    runs = _value(db.execute("SELECT count(*) FROM run"))
    return RowCounts(by_state("inbox"), by_state("turn_input"), by_state("turn"), by_state("part"), runs)


def routes_to_send(db: SqlConnection, shard: int | None = None) -> tuple[Route, ...]:
    sql = (
        f"SELECT {PLACE} FROM place JOIN part ON part.place = place.id AND {any_of('part.state', IN_FLIGHT)} "
        f"{of_shard('part', shard)} GROUP BY place.id ORDER BY min(part.id)"
    )
    return tuple(map(route_from, db.execute(sql)))


BODIES = (
    "inbox",
    "cursor",
    "turn_input",
    "turn",
    "part",
    "message",
    "session",
    "agent_session",
    "transcript",
    "blob",
    "blob_chunk",
    "room",
    "room_entry",
    "room_event",
    "fact",
    "trace",
)


def check_bodies(db: SqlConnection) -> None:
    for table in BODIES:
        for row in db.execute(f"SELECT body FROM {table}"):
            unseal(row[0])


def _text(rows: Rows) -> str | None:
    body = _value(rows)
    return None if body is None else unseal(body).decode()


def _value(rows: Rows) -> Any:
    row = rows.fetchone()
    return row[0] if row else None


def _in_order(latest_first: Iterable[T]) -> tuple[T, ...]:
    return tuple(reversed(tuple(latest_first)))
