"""The verbs and reads of requests between homes."""

from contextlib import suppress

from msgspec import Struct

from rejoinder.errors import Unreadable
from rejoinder.store.home_requests import AskHome, EndHomeRequest, HomeRequest, StoredHomeRequest
from rejoinder.store.sql.connection import Insertion, SqlConnection
from rejoinder.store.sql.faults import Damaged
from rejoinder.store.sql.values import packer, session_shard


class SealedRequest(Struct, frozen=True):
    request: HomeRequest


_pack, _unpack = packer(SealedRequest)
ROW = Insertion("home_request", "session", "shard", "body")


def ask_home(db: SqlConnection, verb: AskHome) -> None:
    db.insert(ROW, (verb.session, session_shard(db, verb.session), _pack(SealedRequest(verb.request))))


def end_home_request(db: SqlConnection, verb: EndHomeRequest) -> None:
    db.move("DELETE FROM home_request WHERE id = ?", (verb.id,), "request %s", verb.id)


def home_requests(db: SqlConnection, shard: int) -> tuple[StoredHomeRequest, ...]:
    found: list[StoredHomeRequest] = []
    sql = "SELECT id, session, body FROM home_request WHERE shard = ? ORDER BY id"
    for id, session, body in db.execute(sql, (shard,)):
        with suppress(Unreadable):  # from another version: left to a process that can read it (SC-25)
            try:
                request = _unpack(body).request
            except Damaged:
                request = None
            found.append(StoredHomeRequest(id, session, request))
    return tuple(found)
