"""Look-ups for operators, across all conversations."""

from contextlib import suppress
from datetime import datetime

from rejoinder.errors import Unreadable
from rejoinder.events import Route
from rejoinder.store.base import (
    IN_FLIGHT,
    InboxEvent,
    LocatedMessage,
    PairingRequest,
    PartState,
    PendingWork,
    Quarantined,
    StoredPart,
    said_about,
)
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sql.memory import PAIRING_COLUMNS, QUARANTINE_MARK, pairing_request_from
from rejoinder.store.sql.messages import HANDLE
from rejoinder.store.sql.reads import INPUTS, PARTS, UNTOLD, in_states, of_shard
from rejoinder.store.sql.subagents import unpack_subagent
from rejoinder.store.sql.values import (
    EVENT,
    MESSAGE,
    PLACE,
    Row,
    event_from,
    find_place,
    input_from,
    instant,
    message_from,
    part_from,
    route_from,
)

LATEST = 10_000

STUCK: tuple[PartState, ...] = ("held", "dead")


def latest_event(db: SqlConnection, channel: str | None, chat: str | None) -> InboxEvent | None:
    # The chat is only in the body, so the latest events are read one by one until one fits.
    sql = f"SELECT {EVENT} FROM inbox WHERE id > (SELECT max(id) FROM inbox) - ? ORDER BY id DESC"
    for row in db.execute(sql, (LATEST,)):
        with suppress(Unreadable):
            event = event_from(row)
            said = event.inbound
            if said.message_id and channel in (None, said.channel) and chat in (None, said.chat.id):
                return event
    return None


def part(db: SqlConnection, id: int) -> StoredPart | None:
    row = db.execute(f"{PARTS} part.id = ?", (id,)).fetchone()
    return part_from(row) if row else None


def part_sent_as(db: SqlConnection, route: Route, message: str) -> StoredPart | None:
    # There is no index by receipt: it would cost every send, and this look-up is rare.
    sql = f"{PARTS} part.receipt = ? AND part.place = ? ORDER BY part.id DESC LIMIT 1"
    row = db.execute(sql, (message, find_place(db, route))).fetchone()
    return part_from(row) if row else None


def parts_about(db: SqlConnection, event: int) -> tuple[StoredPart, ...]:
    return parts_under(db, said_about(event))


def parts_under(db: SqlConnection, stem: str) -> tuple[StoredPart, ...]:
    rows = db.execute(f"{PARTS} part.key > ? AND part.key < ? ORDER BY part.id", (f"{stem}/", f"{stem}0"))
    return tuple(map(part_from, rows))  # "0" comes right after "/"


def find_messages(db: SqlConnection, reference: str, limit: int) -> tuple[LocatedMessage, ...]:
    spoken = HANDLE.fullmatch(reference)
    number = int(spoken[1]) if spoken else 0
    either = "(message.id = :id OR message.number = :number)"
    sql = f"SELECT {PLACE}, {MESSAGE} FROM place JOIN message ON message.place = place.id AND {either} LIMIT :limit"
    rows = db.execute(sql, {"id": reference, "number": number, "limit": limit})
    return tuple(LocatedMessage(route_from(row[:4]), message_from(row[4:])) for row in rows)


def count_sessions(db: SqlConnection) -> int:
    return db.execute("SELECT count(*) FROM session WHERE instr(key, ?) = 0", (QUARANTINE_MARK,)).fetchone()[0]


def session_keys(db: SqlConnection, holding: str, limit: int) -> tuple[str, ...]:
    if db.execute("SELECT 1 FROM session WHERE key = ?", (holding,)).fetchone() is not None:
        return (holding,)
    sql = "SELECT key FROM session WHERE instr(key, ?) > 0 ORDER BY touched DESC, key LIMIT ?"
    return tuple(row[0] for row in db.execute(sql, (holding, limit)))


def session_of_turn(db: SqlConnection, turn: int) -> str | None:
    found = db.execute("SELECT session FROM turn WHERE id = ?", (turn,)).fetchone()
    return None if found is None else found[0]


def sessions_at_work(db: SqlConnection, route: Route, beside: bool = False) -> tuple[str, ...]:
    sql = "SELECT DISTINCT session FROM turn WHERE place = ? AND state = 'open'"
    found = {session for (session,) in db.execute(sql, (find_place(db, route),))}
    for row in db.execute(f"{INPUTS} {UNTOLD}"):
        with suppress(Unreadable, Damaged):
            waiting = input_from(row)
            if waiting.event.inbound.route == route:
                found.add(waiting.session)
    if beside:
        found |= _with_subagents(db, route)
    return tuple(sorted(found))


def is_talked_to(db: SqlConnection, route: Route) -> bool:
    at_work = f"{INPUTS} i.turn IN (SELECT id FROM turn WHERE place = ? AND state = 'open')"
    under_way = [(row, False) for row in db.execute(at_work, (find_place(db, route),))]
    waiting = [(row, True) for row in db.execute(f"{INPUTS} {UNTOLD}")]
    for row, may_be_elsewhere in (*under_way, *waiting):
        with suppress(Unreadable, Damaged):
            inbound = input_from(row).event.inbound
            if inbound.entry != "cron" and not (may_be_elsewhere and inbound.route != route):
                return True
    return False


def _with_subagents(db: SqlConnection, route: Route) -> set[str]:
    sql = "SELECT body FROM subagent WHERE state = 'running' AND channel = ? AND chat = ?"
    found: set[str] = set()
    for (body,) in db.execute(sql, (route.channel, route.chat)):
        with suppress(Unreadable, Damaged):
            if (kept := unpack_subagent(body)).route == route:
                found.add(kept.root)
    return found


def pending_work(db: SqlConnection) -> dict[str, PendingWork]:
    waiting: dict[str, int] = dict(
        db.execute(
            "SELECT i.session, count(*) FROM turn_input i INDEXED BY turn_input_untold "
            f"WHERE {UNTOLD} GROUP BY i.session"
        )
    )
    rows = db.execute("SELECT run.session, turn.opened FROM run JOIN turn ON turn.id = run.turn")
    running: dict[str, datetime] = {session: instant(opened) for session, opened in rows}
    unsent, stuck = _parts_by_session(db, IN_FLIGHT), _parts_by_session(db, STUCK)
    return {
        session: PendingWork(
            waiting.get(session, 0), running.get(session), unsent.get(session, 0), stuck.get(session, 0)
        )
        for session in waiting.keys() | running.keys() | unsent.keys() | stuck.keys()
    }


def _parts_by_session(db: SqlConnection, states: tuple[PartState, ...]) -> dict[str, int]:
    sql = (
        "SELECT turn.session, count(*) FROM part INDEXED BY part_unended JOIN turn ON turn.id = part.turn "
        f"WHERE {in_states(states)} GROUP BY turn.session"
    )
    return dict(db.execute(sql))


def quarantined(db: SqlConnection, limit: int) -> tuple[Quarantined, ...]:
    sql = (
        "SELECT 'message', message, channel, accepted AS at, reason, id FROM inbox WHERE state = 'quarantined' "
        "UNION ALL SELECT 'turn', CAST(id AS TEXT), session, closed, detail, id FROM turn WHERE closed IS NOT NULL "
        "AND state = 'quarantined' UNION ALL "
        "SELECT 'session', key, substr(key, 1, instr(key, :aside) - 1), touched, '', 0 FROM session "
        "WHERE instr(key, :aside) > 0 ORDER BY at DESC LIMIT :limit"
    )
    return tuple(map(_quarantined, db.execute(sql, {"aside": QUARANTINE_MARK, "limit": limit})))


def requested_reruns(db: SqlConnection, shard: int | None = None) -> tuple[Quarantined, ...]:
    sql = (
        "SELECT 'message', message, channel, accepted, reason, id FROM inbox "
        f"WHERE wanted = 1 {of_shard('inbox', shard)} UNION ALL "
        "SELECT 'turn', CAST(id AS TEXT), session, closed, detail, id FROM turn "
        f"WHERE wanted = 1 {of_shard('turn', shard)} ORDER BY 6"
    )
    return tuple(map(_quarantined, db.execute(sql)))


def _quarantined(row: Row) -> Quarantined:
    kind, id, where, at, why, number = row
    return Quarantined(kind, str(id), where, instant(at), why, number)


def all_pairing_requests(db: SqlConnection) -> tuple[PairingRequest, ...]:
    return tuple(map(pairing_request_from, db.execute(f"SELECT {PAIRING_COLUMNS} FROM knock ORDER BY asked, sender")))
