"""Verbs of parts. `PART_MOVES` says which verb may move a part from which state; this file carries it out, under the
fence."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

from msgspec.structs import replace

from rejoinder.errors import BadUse, Superseded
from rejoinder.store.base import (
    IN_FLIGHT,
    LATEST,
    PART_MOVES,
    YIELDING,
    BuryPart,
    ClaimPart,
    DropPart,
    HoldPart,
    IndexedMessage,
    MarkSent,
    MarkUnknown,
    NotBefore,
    PartIntent,
    PartState,
    PlanParts,
    ResendPart,
    RetryPart,
    StoredPart,
    Verb,
    WithdrawParts,
)
from rejoinder.store.sql.blobs import forget_names, name, of_part
from rejoinder.store.sql.connection import Insertion, SqlConnection
from rejoinder.store.sql.messages import note
from rejoinder.store.sql.values import (
    PART,
    RUN,
    find_place,
    hold,
    micros,
    part_from,
    place_of,
    seal,
)


def any_of(column: str, states: tuple[str, ...]) -> str:
    """Spelled out as in the partial indexes, so that SQLite uses them; for an `IN` list it would also build a table."""
    return "(" + " OR ".join(f"{column} = '{state}'" for state in states) + ")"


BY_KEY = f"SELECT {PART} FROM part JOIN place ON place.id = part.place WHERE part.key = ?"
HERE = f"FROM part WHERE place = ? AND {any_of('state', IN_FLIGHT)}"
NEXT = (  # two look-ups in the index: sorting by kind would read all waiting parts
    f"SELECT {PART} FROM part JOIN place ON place.id = part.place WHERE part.id = coalesce("
    f"(SELECT id {HERE} AND kind <> '{YIELDING}' ORDER BY id LIMIT 1), (SELECT id {HERE} ORDER BY id LIMIT 1))"
)
ANY_BEFORE = f"SELECT 1 {HERE} AND kind <> ? LIMIT 1"
ANSWERED = (
    "UPDATE turn SET state = 'answered' WHERE id = ? AND state IN ('open', 'answered') "
    f"AND EXISTS (SELECT 1 FROM {RUN})"
)


PART_ROW = Insertion(
    "part", "turn", "place", "key", "kind", "planned", "body", "state", "generation", "attempts", "shard"
)


def plan_parts(db: SqlConnection, verb: PlanParts) -> tuple[StoredPart, ...]:
    run = verb.run
    if verb.final and run is not None:
        fence = (run.turn, run.session, run.turn, run.generation)
        db.move(ANSWERED, fence, "the run of turn %s", run.turn)
    elif run is not None:
        hold(db, run)
    turn, claims = run.turn if run else None, verb.claims
    planned: list[StoredPart] = []
    for intent in verb.parts:
        planned.append(_plan(db, intent, turn, verb.now, claims=claims))
        claims = False
    return db.all_later(planned)


def _plan(db: SqlConnection, intent: PartIntent, turn: int | None, now: datetime, *, claims: bool) -> StoredPart:
    key, route, body, kind = intent.key, intent.route, intent.body, intent.kind
    place = place_of(db, route)
    shard = db.shard_of_place(place)
    is_here = db.acts_for(shard)
    state: PartState = "planned"
    generation = attempts = 0
    if claims and is_here and not _waits(db, place, intent.kind):
        state, generation, attempts = "sending", db.numbers.next_generation(), 1
    row = (turn, place, key, kind, micros(now), seal(body), state, generation, attempts, shard)
    number = db.insert_new(PART_ROW, row)

    def look_up(again: SqlConnection) -> StoredPart:
        return replace(part_from(again.execute(BY_KEY, (key,)).fetchone()), elsewhere=not is_here)

    if number is None:
        known = look_up(db)
        if (known.route, known.kind, known.body) != (route, kind, body):
            raise BadUse(f"part key {key!r} stands for other bytes; a changed rendering needs a new key")
        return known
    if intent.blobs:
        name(db, of_part(key), intent.blobs)
    new = StoredPart(0, key, route, body, kind, state, generation, attempts, now, turn, elsewhere=not is_here)
    return db.later(lambda: replace(new, id=number()), look_up)


def _waits(db: SqlConnection, place: int, kind: str) -> bool:
    """Whether another part has to go before a new part of this kind. A claim of a new part assumes that there is
    none."""
    overtaken = "" if kind == YIELDING else YIELDING
    return db.exceptional(ANY_BEFORE, (place, overtaken)) is not None


def claim_part(db: SqlConnection, verb: ClaimPart) -> StoredPart | NotBefore | None:
    place = find_place(db, verb.route)
    if place is None or not db.acts_for(db.shard_of_place(place)):
        return None
    row = db.execute(NEXT, (place, place)).fetchone()
    if row is None:
        return None
    part = part_from(row)
    if part.state not in PART_MOVES[ClaimPart][0]:
        return None
    if part.retry_at is not None and verb.now < part.retry_at <= verb.now + LATEST:
        return NotBefore(part.retry_at)
    return _move(
        db,
        verb,
        part,
        attempts=part.attempts + 1,
        generation=db.numbers.next_generation(),
        retry_at=None,
    )


def mark_sent(db: SqlConnection, verb: MarkSent) -> IndexedMessage | None:
    part = verb.part
    _move_row(db, verb, part, ("receipt", "error"), (verb.receipt, ""))
    if verb.had_files:
        forget_names(db, of_part(part.key), micros(verb.at))
    if verb.receipt is None:
        return None
    own = IndexedMessage(verb.receipt, verb.author, verb.at, "own", text=verb.text)
    return note(db, place_of(db, verb.place or part.route), own, part.turn, part.id)


def mark_unknown(db: SqlConnection, verb: MarkUnknown) -> StoredPart:
    return _move(db, verb, verb.part, error=verb.error)


def retry_part(db: SqlConnection, verb: RetryPart) -> StoredPart:
    made = verb.part.attempts - (not verb.counted and verb.part.state == "sending")
    conceded = " ".join(verb.omitted)
    moved = _move(db, verb, verb.part, retry_at=verb.at, error=verb.error, attempts=made, conceded=conceded)
    return replace(moved, omitted=verb.omitted)


def hold_part(db: SqlConnection, verb: HoldPart) -> StoredPart:
    return _move(db, verb, verb.part)


def resend_part(db: SqlConnection, verb: ResendPart) -> StoredPart:
    return _move(db, verb, verb.part, attempts=0)


def bury_part(db: SqlConnection, verb: BuryPart) -> StoredPart:
    return _move(db, verb, verb.part, error=verb.error)


def drop_part(db: SqlConnection, verb: DropPart) -> StoredPart:
    return _move(db, verb, verb.part)


def withdraw_parts(db: SqlConnection, verb: WithdrawParts) -> int:
    sources, target = PART_MOVES[WithdrawParts]
    sql = f"UPDATE part SET state = '{target}', retry_at = NULL WHERE turn = ? AND {any_of('state', sources)}"
    return db.change(sql, (verb.turn,)).rowcount


def _move(db: SqlConnection, verb: Verb[Any], part: StoredPart, **columns: Any) -> StoredPart:
    values = [micros(value) if isinstance(value, datetime) else value for value in columns.values()]
    target = _move_row(db, verb, part, tuple(columns), values)
    told = {name: value for name, value in columns.items() if name in TOLD}
    return replace(part, state=target, **told)


def _move_row(
    db: SqlConnection, verb: Verb[Any], part: StoredPart, columns: tuple[str, ...], values: Iterable[Any]
) -> PartState:
    """Moves a part according to its verb, if its row still has the state and the generation that were read."""
    sources, target = PART_MOVES[type(verb)]
    if part.state not in sources:
        raise Superseded(f"part {part.id} is {part.state}; {type(verb).__name__} needs it {' or '.join(sources)}")
    db.move(_update(columns), (target, *values, part.id, part.state, part.generation), "part %s", part.id)
    return target


@cache
def _update(columns: tuple[str, ...]) -> str:
    settings = "".join(f", {name} = ?" for name in columns)
    return f"UPDATE part SET state = ?{settings} WHERE id = ? AND state = ? AND generation = ?"


TOLD = frozenset(StoredPart.__struct_fields__)
