"""The verb of questions, and how they are read."""

from rejoinder.store.base import PutQuestion, StoredQuestion
from rejoinder.store.sql.connection import SqlConnection
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


def open_questions(db: SqlConnection, shard: int | None = None) -> tuple[StoredQuestion, ...]:
    sql = (
        "SELECT question.body, question.shard FROM turn CROSS JOIN question "
        "WHERE question.turn = turn.id AND (turn.state = 'open' OR turn.state = 'answered') "
        "AND (question.state = 'open' OR question.state = 'answered')"
    )
    found = (_unpack(body) for body, its_shard in db.execute(sql) if shard in (None, its_shard))
    return tuple(sorted(found, key=lambda kept: (kept.asked, kept.id)))


def sweep_questions(db: SqlConnection, old: int, most: int) -> int:
    gone = db.execute("SELECT id FROM question WHERE asked < ? LIMIT ?", (old, most)).fetchall()
    db.executemany("DELETE FROM question WHERE id = ?", gone)
    return len(gone)
