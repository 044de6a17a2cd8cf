"""What a restart has to resume, each item read by itself.

An item that another version has written, or that is damaged, is reported from the columns beside its body, and does not
keep the others from being resumed.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TypeVar

from msgspec.structs import replace

from rejoinder.errors import Unreadable
from rejoinder.store.base import Input, OpenTurn, RecoveryRows, StoredPart, UnreadableRow
from rejoinder.store.recovery import backlogs
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.reads import INPUTS, PARTS, UNTOLD, in_states, of_shard, routes_to_send, turn
from rejoinder.store.sql.subagents import open_rows, unpack_subagent
from rejoinder.store.sql.values import (
    EVENT,
    EVENT_COLUMNS,
    PLACE,
    Damaged,
    Row,
    event_from,
    input_from,
    part_from,
    route_from,
    seal,
)

T = TypeVar("T")

NO_BODY = seal(b"")


def recover(db: SqlConnection, now: datetime, singly: int, within: timedelta, shard: int | None = None) -> RecoveryRows:
    """Everything to resume in one shard, or in all."""
    unread: list[UnreadableRow] = []

    def readable(
        rows: Iterable[Row], read: Callable[[Row], T], known: Callable[[SqlConnection, Row, str], UnreadableRow]
    ) -> Iterator[T]:
        for row in rows:
            try:
                yield read(row)
            except Damaged as problem:
                unread.append(known(db, row, str(problem)))
            except Unreadable as problem:
                unread.append(replace(known(db, row, str(problem)), of_another_version=True))

    lost: dict[str, Damaged | Unreadable] = {}

    def subagent(row: Row) -> None:
        try:
            unpack_subagent(row[-1])
        except (Damaged, Unreadable) as problem:
            lost[row[0]] = problem
            raise

    def known(session: str) -> None:
        """The rights of a sub-agent are in its row; without that, none of its work can continue."""
        if (problem := lost.get(session)) is not None:
            raise problem

    def open_turn(row: Row) -> OpenTurn:
        found = turn(db, row[0])
        assert found is not None, "its number has just been read"
        known(found.turn.session)
        return found

    def untold_input(row: Row) -> Input:
        known(row[EVENT_COLUMNS])
        return input_from(row)

    for _ in readable(open_rows(db, shard), subagent, _unread_subagent):
        pass

    new = db.execute(f"SELECT {EVENT} FROM inbox WHERE state = 'new' {of_shard('inbox', shard)} ORDER BY id")
    open_here = f"state IN ('open', 'answered') {of_shard('turn', shard)}"
    left_open = db.execute(f"SELECT id FROM turn WHERE {open_here} ORDER BY id")
    indexed = INPUTS.replace("turn_input i", "turn_input i INDEXED BY turn_input_untold")
    untold = db.execute(f"{indexed} {UNTOLD} {of_shard('i', shard)} ORDER BY i.event, i.session")
    return RecoveryRows(
        events=tuple(readable(new, event_from, _unread_event)),
        turns=tuple(readable(left_open, open_turn, _unread_turn)),
        backlogs=backlogs(readable(untold, untold_input, _unread_input), now, singly, within),
        unknown=_unknown(db, shard),
        to_send=routes_to_send(db, shard),
        unread=tuple(unread),
    )


def _unread_subagent(_: SqlConnection, row: Row, why: str) -> UnreadableRow:
    return UnreadableRow("subagent", 0, "", row[0], why, root=row[1])


def _unread_event(db: SqlConnection, row: Row, why: str) -> UnreadableRow:
    channel, message = db.execute("SELECT channel, message FROM inbox WHERE id = ?", row[:1]).fetchone()
    return UnreadableRow("event", row[0], message, channel, why)


def _unread_input(db: SqlConnection, row: Row, why: str) -> UnreadableRow:
    (message,) = db.execute("SELECT message FROM inbox WHERE id = ?", row[:1]).fetchone()
    return UnreadableRow("input", row[0], message, row[EVENT_COLUMNS], why)


def _unread_turn(db: SqlConnection, row: Row, why: str) -> UnreadableRow:
    sql = f"SELECT {PLACE}, turn.session, turn.state FROM turn JOIN place ON place.id = turn.place WHERE turn.id = ?"
    *place, session, state = db.execute(sql, row).fetchone()
    asked = (
        "SELECT inbox.message FROM turn_input i JOIN inbox ON inbox.id = i.event "
        "WHERE i.turn = ? AND i.state IN ('taken', 'steered') ORDER BY i.event DESC LIMIT 1"
    )
    (message,) = db.execute(asked, row).fetchone() or ("",)
    answers = db.execute("SELECT 1 FROM subagent WHERE session = ?", (session,)).fetchone() is None
    route = route_from(tuple(place)) if answers else None
    return UnreadableRow("turn", row[0], message, session, why, route, answered=state == "answered")


def _unknown(db: SqlConnection, shard: int | None) -> tuple[StoredPart, ...]:
    """The parts whose arrival is unknown. A damaged one gets an empty body: the sender buries a part it cannot read, so
    that it does not hold up others."""
    parts: list[StoredPart] = []
    for row in db.execute(f"{PARTS} {in_states(('unknown',))} {of_shard('part', shard)} ORDER BY part.id"):
        try:
            parts.append(part_from(row))
        except Damaged:
            parts.append(part_from((*row[:-1], NO_BODY)))
    return tuple(parts)
