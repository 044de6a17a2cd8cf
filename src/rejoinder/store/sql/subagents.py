"""The verb of sub-agents, and how they are read."""

from rejoinder.store.base import PutSubagent, StoredSubagent
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.values import micros, packer, session_shard

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


def subagents(db: SqlConnection, root: str, limit: int) -> tuple[StoredSubagent, ...]:
    sql = "SELECT body FROM subagent WHERE root = ? ORDER BY started DESC LIMIT ?"
    return tuple(unpack_subagent(body) for (body,) in db.execute(sql, (root, limit)))[::-1]


def subagents_at(db: SqlConnection, channel: str, chat: str, limit: int) -> tuple[StoredSubagent, ...]:
    sql = "SELECT body FROM subagent WHERE channel = ? AND chat = ? ORDER BY started DESC LIMIT ?"
    return tuple(unpack_subagent(body) for (body,) in db.execute(sql, (channel, chat, limit)))


def subagent(db: SqlConnection, session: str) -> StoredSubagent | None:
    row = db.execute("SELECT body FROM subagent WHERE session = ?", (session,)).fetchone()
    return None if row is None else unpack_subagent(row[0])


def latest_subagents(db: SqlConnection, limit: int) -> tuple[StoredSubagent, ...]:
    sql = "SELECT body FROM subagent ORDER BY started DESC LIMIT ?"
    return tuple(unpack_subagent(body) for (body,) in db.execute(sql, (limit,)))


def open_subagents(db: SqlConnection, shard: int | None = None) -> tuple[StoredSubagent, ...]:
    sql = "SELECT body, shard FROM subagent WHERE state = 'running' OR told = 0 ORDER BY started"
    return tuple(unpack_subagent(body) for body, its_shard in db.execute(sql) if shard in (None, its_shard))


def sweep_subagents(db: SqlConnection, old: int, most: int) -> int:
    sql = "SELECT session FROM subagent WHERE started < ? AND told = 1 AND state <> 'running' LIMIT ?"
    gone = db.execute(sql, (old, most)).fetchall()
    db.executemany("DELETE FROM subagent WHERE session = ?", gone)
    return len(gone)
