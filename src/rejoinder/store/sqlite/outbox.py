"""Verbs of parts. Which may take a part from where is `PART_MOVES`; here is how, under the fence."""

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from rejoinder.errors import BadUse, Superseded
from rejoinder.store.base import (
    IN_FLIGHT,
    PART_MOVES,
    BuryPart,
    ClaimPart,
    DropPart,
    HoldPart,
    Later,
    MarkSending,
    MarkSent,
    MarkUnknown,
    Message,
    PlanParts,
    ResendPart,
    RetryPart,
    StoredPart,
    Verb,
    WithdrawParts,
)
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.messages import note
from rejoinder.store.sqlite.values import (
    PART,
    find_place,
    hold,
    instant,
    micros,
    moved,
    part_from,
    place_of,
    seal,
)


def listed(states: tuple[str, ...]) -> str:
    return ", ".join(f"'{state}'" for state in states)


BY_ID = f"SELECT {PART} FROM part JOIN place ON place.id = part.place WHERE part.id = ?"
BY_KEY = f"SELECT {PART} FROM part JOIN place ON place.id = part.place WHERE part.key = ?"
NEXT = f"SELECT id, state, retry_at FROM part WHERE place = ? AND state IN ({listed(IN_FLIGHT)}) ORDER BY id LIMIT 1"


def plan_parts(db: Connection, verb: PlanParts) -> tuple[StoredPart, ...]:
    run = verb.run
    if run is not None:
        hold(db, run)
    if verb.final and run is not None:
        sql = "UPDATE turn SET state = 'answered' WHERE id = ? AND state IN ('open', 'answered')"
        moved(db, sql, (run.turn,), f"turn {run.turn}")
    turn, now = (run.turn if run else None), micros(verb.now)
    sql = "INSERT INTO part (turn, place, key, kind, planned, body) VALUES (?, ?, ?, ?, ?, ?) RETURNING id"
    planned: list[StoredPart] = []
    for intent in verb.parts:
        if (row := db.execute(BY_KEY, (intent.key,)).fetchone()) is not None:
            known = part_from(row)
            if (known.route, known.kind, known.body) != (intent.route, intent.kind, intent.body):
                raise BadUse(f"part key {intent.key!r} stands for other bytes; a changed rendering needs a new key")
            planned.append(known)
            continue
        place = place_of(db, intent.route)
        id = db.execute(sql, (turn, place, intent.key, intent.kind, now, seal(intent.body))).fetchone()[0]
        planned.append(
            StoredPart(id, intent.key, intent.route, intent.body, intent.kind, "planned", 0, 0, verb.now, turn)
        )
    return tuple(planned)


def claim_part(db: Connection, verb: ClaimPart) -> StoredPart | Later | None:
    place = find_place(db, verb.route)
    row = db.execute(NEXT, (place,)).fetchone()
    if row is None:
        return None
    id, state, retry_at = row
    if state not in PART_MOVES[ClaimPart][0]:
        return None
    if retry_at is not None and retry_at > micros(verb.now):
        return Later(instant(retry_at))
    part = part_from(db.execute(BY_ID, (id,)).fetchone())
    claim: dict[str, Any] = {"generation": next(db.generations), "lease_until": verb.lease_until, "retry_at": None}
    claimed = _move(db, verb, part, **claim)
    return mark_sending(db, MarkSending(claimed)) if verb.sending else claimed


def mark_sending(db: Connection, verb: MarkSending) -> StoredPart:
    """The attempt is counted before it is made."""
    return _move(db, verb, verb.part, attempts=verb.part.attempts + 1)


def mark_sent(db: Connection, verb: MarkSent) -> Message | None:
    part = verb.part
    opens_answer = part.turn is None or _none_sent(db, part.turn)
    _move(db, verb, part, receipt=verb.receipt, lease_until=None, error="")
    if verb.receipt is None:
        return None
    own = Message(verb.receipt, verb.author, verb.at, "own", text=verb.text)
    return note(db, place_of(db, part.route), own, counts=opens_answer)


def _none_sent(db: Connection, turn: int) -> bool:
    """However many parts an answer has, it is one turn of ours (IN-23)."""
    sql = "SELECT 1 FROM part WHERE turn = ? AND state = 'sent' AND receipt IS NOT NULL"
    return db.execute(sql, (turn,)).fetchone() is None


def mark_unknown(db: Connection, verb: MarkUnknown) -> StoredPart:
    return _move(db, verb, verb.part, error=verb.error, lease_until=None)


def retry_part(db: Connection, verb: RetryPart) -> StoredPart:
    made = verb.part.attempts - (not verb.counted and verb.part.state == "sending")
    return _move(db, verb, verb.part, retry_at=verb.at, error=verb.error, attempts=made, lease_until=None)


def hold_part(db: Connection, verb: HoldPart) -> StoredPart:
    return _move(db, verb, verb.part)


def resend_part(db: Connection, verb: ResendPart) -> StoredPart:
    return _move(db, verb, verb.part, attempts=0)


def bury_part(db: Connection, verb: BuryPart) -> StoredPart:
    return _move(db, verb, verb.part, error=verb.error, lease_until=None)


def drop_part(db: Connection, verb: DropPart) -> StoredPart:
    return _move(db, verb, verb.part)


def withdraw_parts(db: Connection, verb: WithdrawParts) -> int:
    sources, target = PART_MOVES[WithdrawParts]
    sql = (
        f"UPDATE part SET state = '{target}', lease_until = NULL, retry_at = NULL "
        f"WHERE turn = ? AND state IN ({listed(sources)})"
    )
    return db.execute(sql, (verb.turn,)).rowcount


def _move(db: Connection, verb: Verb[Any], part: StoredPart, **columns: Any) -> StoredPart:
    """Takes a part where its verb leads, if it still is as it was seen: the same state, the same generation."""
    sources, target = PART_MOVES[type(verb)]
    if part.state not in sources:
        raise Superseded(f"part {part.id} is {part.state}; {type(verb).__name__} needs it {' or '.join(sources)}")
    values = {name: micros(value) if isinstance(value, datetime) else value for name, value in columns.items()}
    settings = "".join(f", {name} = :{name}" for name in values)
    fence = "WHERE id = :_id AND state = :_state AND generation = :_generation"
    seen = {"_id": part.id, "_state": part.state, "_generation": part.generation}
    moved(db, f"UPDATE part SET state = '{target}'{settings} {fence}", {**values, **seen}, f"part {part.id}")
    told = {name: value for name, value in columns.items() if name in StoredPart.__struct_fields__}
    return replace(part, state=target, **told)
