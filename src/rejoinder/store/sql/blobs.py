"""Verbs and reads of blobs: files in chunks, and the rows that name them."""

from collections.abc import Iterable

from msgspec import Struct

from rejoinder.blobs import Blob, Quota, QuotaReached
from rejoinder.errors import Superseded
from rejoinder.store.base import AddChunk, BeginBlob, DropBlob, EndBlob, NameBlobs, Retention
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.values import MICROSECOND, Row, micros, packer, seal, unseal

AT_ONCE = 20
"""How many blobs one step of the sweep removes; their pages have to be written too."""


class _Facts(Struct, frozen=True):
    name: str
    mime: str


_pack, _unpack = packer(_Facts)
BLOB = "blob.id, blob.size, blob.body"


def blob_body(name: str, mime: str) -> bytes:
    return _pack(_Facts(name, mime))


def begin_blob(db: SqlConnection, verb: BeginBlob) -> None:
    upload = verb.upload
    if upload.quota is not None and upload.owner is not None:
        _reserve(db, upload.owner, upload.announced, upload.quota)
    body = blob_body(upload.name, upload.mime)
    sql = "INSERT INTO blob (id, owner, size, unnamed, body) VALUES (?, ?, ?, ?, ?)"
    db.change(sql, (verb.id, upload.owner, upload.announced, micros(verb.now), body))


def add_chunk(db: SqlConnection, verb: AddChunk) -> None:
    found = db.execute("SELECT owner, size FROM blob WHERE id = ? AND whole = 0", (verb.blob,)).fetchone()
    if found is None:
        raise Superseded(f"the file {verb.blob} is not being stored any more")
    owner, size = found
    if verb.received > size and owner is not None and verb.quota is not None:
        _reserve(db, owner, verb.received - size, verb.quota)
    now = (max(size, verb.received), micros(verb.now), verb.blob)
    db.change("UPDATE blob SET size = ?, unnamed = ? WHERE id = ?", now)
    db.change(
        "INSERT INTO blob_chunk (blob, number, body) VALUES (?, ?, ?)", (verb.blob, verb.number, seal(verb.content))
    )


def _reserve(db: SqlConnection, owner: str, more: int, quota: Quota) -> None:
    sql = (
        "SELECT CAST(coalesce(sum(CASE WHEN owner = ? THEN size END), 0) AS INTEGER), "
        "CAST(coalesce(sum(size), 0) AS INTEGER) FROM blob WHERE owner IS NOT NULL"
    )
    own, everything = db.execute(sql, (owner,)).fetchone()
    if own + more > quota.owner:
        raise QuotaReached("owner", quota)
    if everything + more > quota.all:
        raise QuotaReached("all", quota)


def end_blob(db: SqlConnection, verb: EndBlob) -> Blob:
    if verb.key is not None and (kept := blob_under(db, verb.key)) is not None:
        _remove(db, verb.blob)
        return kept
    sql = "UPDATE blob SET whole = 1, size = ?, key = ? WHERE id = ? AND whole = 0"
    db.move(sql, (verb.size, verb.key, verb.blob), "the file %s", verb.blob)
    found = blob(db, verb.blob)
    assert found is not None, "it was just completed"
    return found


def drop_blob(db: SqlConnection, verb: DropBlob) -> None:
    _remove(db, verb.blob)


def _remove(db: SqlConnection, id: str) -> None:
    db.change("DELETE FROM blob_chunk WHERE blob = ?", (id,))
    db.change("DELETE FROM blob_use WHERE blob = ?", (id,))
    db.change("DELETE FROM blob WHERE id = ?", (id,))


def name_blobs(db: SqlConnection, verb: NameBlobs) -> None:
    forget_names(db, verb.named_by, micros(verb.now), keep=verb.blobs)
    name(db, verb.named_by, verb.blobs)


def name(db: SqlConnection, named_by: str, blobs: Iterable[str]) -> None:
    for each in blobs:
        sql = "UPDATE blob SET unnamed = NULL WHERE id = ? AND whole = 1"
        db.move(sql, (each,), "the file %s", each)
        db.change("INSERT INTO blob_use (blob, named_by) VALUES (?, ?) ON CONFLICT DO NOTHING", (each, named_by))


def forget_names(db: SqlConnection, named_by: str, now: int, keep: tuple[str, ...] = ()) -> None:
    """The row is gone, or names only these blobs now: others that no row names are removed a day later."""
    for (each,) in db.execute("SELECT blob FROM blob_use WHERE named_by = ?", (named_by,)).fetchall():
        if each in keep:
            continue
        db.change("DELETE FROM blob_use WHERE blob = ? AND named_by = ?", (each, named_by))
        sql = "UPDATE blob SET unnamed = ? WHERE id = ? AND NOT EXISTS (SELECT 1 FROM blob_use WHERE blob = blob.id)"
        db.change(sql, (now, each))


def of_part(key: str) -> str:
    return f"part/{key}"


def forget_parts(db: SqlConnection, keys: Iterable[str], now: int) -> None:
    """Called when parts with these keys are removed. Few parts have files."""
    if (
        db.execute("SELECT 1 FROM blob_use WHERE named_by >= 'part/' AND named_by < 'part0' LIMIT 1").fetchone()
        is not None
    ):
        for key in keys:
            forget_names(db, of_part(key), now)


def sweep_blobs(db: SqlConnection, keep: Retention, now: int) -> int:
    sql = "SELECT id FROM blob WHERE unnamed < ? AND (whole = 0 OR unnamed < ?) LIMIT ?"
    unfinished, unnamed = now - keep.unfinished // MICROSECOND, now - keep.unnamed // MICROSECOND
    rows = db.execute(sql, (unfinished, unnamed, AT_ONCE)).fetchall()
    for (id,) in rows:
        _remove(db, id)
    return len(rows)


# --- reads --------------------------------------------------------------------------------------


def blob(db: SqlConnection, id: str) -> Blob | None:
    return _blob(db.execute(f"SELECT {BLOB} FROM blob WHERE id = ? AND whole = 1", (id,)).fetchone())


def blob_under(db: SqlConnection, key: str) -> Blob | None:
    return _blob(db.execute(f"SELECT {BLOB} FROM blob WHERE key = ? AND whole = 1", (key,)).fetchone())


def _blob(row: Row | None) -> Blob | None:
    if row is None:
        return None
    id, size, body = row
    facts = _unpack(body)
    return Blob(id, facts.name, facts.mime, size)


def chunk(db: SqlConnection, blob: str, number: int) -> bytes | None:
    sql = (
        "SELECT blob_chunk.body FROM blob JOIN blob_chunk ON blob_chunk.blob = blob.id AND blob_chunk.number = ? "
        "WHERE blob.id = ? AND blob.whole = 1"
    )
    row = db.execute(sql, (number, blob)).fetchone()
    return None if row is None else unseal(row[0])
