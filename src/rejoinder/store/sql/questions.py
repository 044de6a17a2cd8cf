"""The verb and the reads of questions."""

from collections.abc import Iterable
from contextlib import suppress

from rejoinder.errors import Unreadable
from rejoinder.store.base import PutQuestion, StoredQuestion
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sql.values import micros, packer, session_shard

_pack, _unpack = packer(StoredQuestion)


def put_question(db: SqlConnection, verb: PutQuestion) -> None:
    kept = verb.question
    sql = (
        "INSERT INTO question (id, turn, shard, state, asked, body) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body"
    )
    shard = session_shard(db, kept.session)
    db.change(sql, (kept.id, kept.turn, shard, kept.state, micros(kept.asked), _pack(kept)))


OPEN = (
    "SELECT question.body, question.shard FROM turn CROSS JOIN question "
    "WHERE question.turn = turn.id AND (turn.state = 'open' OR turn.state = 'answered') "
    "AND (question.state = 'open' OR question.state = 'answered')"
)


def open_questions(db: SqlConnection, shard: int | None = None) -> tuple[StoredQuestion, ...]:
    return _readable(body for body, its_shard in db.execute(OPEN) if shard in (None, its_shard))


def questions_elsewhere(db: SqlConnection, shard: int) -> tuple[StoredQuestion, ...]:
    """The questions of sessions in other shards."""
    if db.shards == 1:
        return ()
    found = _readable(body for body, its_shard in db.execute(OPEN) if its_shard != shard)
    return tuple([kept for kept in found if kept.state == "open"])


def asked_elsewhere(db: SqlConnection, ids: tuple[str, ...], shard: int) -> frozenset[str]:
    if db.shards == 1:
        return frozenset()
    sql = "SELECT 1 FROM question WHERE id = ? AND shard <> ?"
    return frozenset(each for each in ids if db.execute(sql, (each, shard)).fetchone() is not None)


def _readable(bodies: Iterable[bytes]) -> tuple[StoredQuestion, ...]:
    """The readable questions, in order. One from another version cannot be answered here (SC-25); a turn that runs
    again asks again."""
    found: list[StoredQuestion] = []
    for body in bodies:
        with suppress(Unreadable, Damaged):
            found.append(_unpack(body))
    return tuple(sorted(found, key=lambda kept: (kept.asked, kept.id)))


def sweep_questions(db: SqlConnection, old: int, most: int) -> int:
    gone = db.execute("SELECT id FROM question WHERE asked < ? LIMIT ?", (old, most)).fetchall()
    db.executemany("DELETE FROM question WHERE id = ?", gone)
    return len(gone)
