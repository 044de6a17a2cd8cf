"""The verb and the reads of sub-agents."""

from collections.abc import Iterable
from contextlib import suppress

from rejoinder.errors import Unreadable
from rejoinder.store.base import PutSubagent, StoredSubagent, WriteOffSubagent
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sql.values import Row, micros, packer, session_shard

_pack, unpack_subagent = packer(StoredSubagent)


def put_subagent(db: SqlConnection, verb: PutSubagent) -> None:
    kept = verb.subagent
    sql = (
        "INSERT INTO subagent (session, root, shard, state, told, started, body, channel, chat) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (session) DO UPDATE SET shard = excluded.shard, state = excluded.state, told = excluded.told, "
        "body = excluded.body"
    )
    shard = session_shard(db, kept.root)
    state = (kept.state, kept.told, micros(kept.started), _pack(kept))
    db.change(sql, (kept.session, kept.root, shard, *state, kept.route.channel, kept.route.chat))


def write_off_subagent(db: SqlConnection, verb: WriteOffSubagent) -> None:
    db.change("UPDATE subagent SET state = 'failed', told = 1 WHERE session = ?", (verb.session,))


def subagents(db: SqlConnection, root: str, limit: int) -> tuple[StoredSubagent, ...]:
    sql = "SELECT body FROM subagent WHERE root = ? ORDER BY started DESC LIMIT ?"
    return _readable(db.execute(sql, (root, limit)))[::-1]


def subagents_at(db: SqlConnection, channel: str, chat: str, limit: int) -> tuple[StoredSubagent, ...]:
    sql = "SELECT body FROM subagent WHERE channel = ? AND chat = ? ORDER BY started DESC LIMIT ?"
    return _readable(db.execute(sql, (channel, chat, limit)))


def subagent(db: SqlConnection, session: str) -> StoredSubagent | None:
    found = _readable(db.execute("SELECT body FROM subagent WHERE session = ?", (session,)))
    return found[0] if found else None


def latest_subagents(db: SqlConnection, limit: int) -> tuple[StoredSubagent, ...]:
    return _readable(db.execute("SELECT body FROM subagent ORDER BY started DESC LIMIT ?", (limit,)))


def open_subagents(db: SqlConnection, shard: int | None = None) -> tuple[StoredSubagent, ...]:
    return _readable((body,) for _, _, body in open_rows(db, shard))


def open_rows(db: SqlConnection, shard: int | None) -> list[Row]:
    """For each: its session, the session of its conversation, and its body."""
    sql = "SELECT session, root, body, shard FROM subagent WHERE state = 'running' OR told = 0 ORDER BY started"
    return [(session, root, body) for session, root, body, its_shard in db.execute(sql) if shard in (None, its_shard)]


def _readable(rows: Iterable[Row]) -> tuple[StoredSubagent, ...]:
    """The readable rows; recovery handles the others (recover.py)."""
    found: list[StoredSubagent] = []
    for (body,) in rows:
        with suppress(Unreadable, Damaged):
            found.append(unpack_subagent(body))
    return tuple(found)


def sweep_subagents(db: SqlConnection, old: int, most: int) -> int:
    sql = "SELECT session FROM subagent WHERE started < ? AND told = 1 AND state <> 'running' LIMIT ?"
    gone = db.execute(sql, (old, most)).fetchall()
    db.executemany("DELETE FROM subagent WHERE session = ?", gone)
    return len(gone)
