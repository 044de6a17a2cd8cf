"""Turns values into columns and back. A body is sealed, so that damage inside it is an error and never a different
message."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from zlib import crc32

import msgspec
from msgspec.structs import replace

from rejoinder.errors import Unreadable
from rejoinder.events import Inbound, Route
from rejoinder.session import route_home, session_home, shard_of
from rejoinder.store.base import InboxEvent, IndexedMessage, Input, RunClaim, StoredPart, StoredTurn
from rejoinder.store.sql.connection import Insertion, Row, SqlConnection
from rejoinder.store.sql.faults import Damaged
from rejoinder.unicode_repair import as_json

T = TypeVar("T")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def micros(instant: datetime) -> int:
    since = instant - EPOCH  # a division by a microsecond takes a third longer
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def day_of(instant: datetime) -> int:
    """Days since 1970, in UTC."""
    return (instant - EPOCH).days


def instant(number: int) -> datetime:
    return EPOCH + timedelta(microseconds=number)


def seal(body: bytes) -> bytes:
    return crc32(body).to_bytes(4, "big") + body


def unseal(blob: bytes) -> bytes:
    body = blob[4:]
    if crc32(body) != int.from_bytes(blob[:4], "big"):
        raise Damaged("a row does not match its checksum")
    return body


def packer(kind: type[T]) -> tuple[Callable[[T], bytes], Callable[[bytes], T]]:
    """The functions that turn values of a kind into bodies, and bodies into values."""
    decoder = msgspec.json.Decoder(kind)

    def pack(value: T) -> bytes:
        body = as_json(value)
        return crc32(body).to_bytes(4, "big") + body

    def unpack(blob: bytes) -> T:
        try:
            return decoder.decode(unseal(blob))
        except msgspec.MsgspecError as problem:
            raise Unreadable(
                f"this row was written by another version of rejoinder, in a form that this one cannot read ({problem})"
            ) from None

    return pack, unpack


_, unpack_inbound = packer(Inbound)
pack_message, unpack_message = packer(IndexedMessage)


def as_written(inbound: Inbound) -> tuple[Inbound, bytes]:
    """The event as it will be read from the store, and its body; the caller continues with this event."""
    try:
        return inbound, seal(msgspec.json.encode(inbound))
    except UnicodeEncodeError:
        body = seal(as_json(inbound))
        return unpack_inbound(body), body


# --- fences -------------------------------------------------------------------------------------


RUN = "run WHERE session = ? AND +turn = ? AND generation = ?"
"""The plus makes SQLite look up the session directly; for the turn it would use another index."""


def hold(db: SqlConnection, run: RunClaim) -> None:
    """Makes sure that this run still has its session; no other writer can change that within this transaction."""
    db.hold(f"SELECT 1 FROM {RUN}", (run.session, run.turn, run.generation), "the run of turn %s", run.turn)


# --- places -------------------------------------------------------------------------------------


PLACE_ROW = Insertion("place", "channel", "account", "chat", "thread", "home", "shard")


def find_place(db: SqlConnection, route: Route) -> int | None:
    if (known := db.places.get(route)) is not None:
        return known
    sql = "SELECT id, shard FROM place WHERE channel = ? AND account = ? AND chat = ? AND thread = ?"
    found = db.execute(sql, (route.channel, route.account, route.chat, route.thread or "")).fetchone()
    if found is None:
        return None
    id, shard = found
    db.know_place(route, id, shard)
    return id


def place_of(db: SqlConnection, route: Route, home: str = "") -> int:
    """The number of a place. `home` is fixed when the place is new (SC-1)."""
    if (known := db.places.get(route)) is not None:
        return known
    if (known := find_place(db, route)) is not None:
        return known
    home = home or route_home(route)
    shard = shard_of(home, db.shards)
    new = db.insert(PLACE_ROW, (route.channel, route.account, route.chat, route.thread or "", home, shard))
    if new is None:  # another process has made it meanwhile
        new = find_place(db, route)
        assert new is not None, "there is one"
    else:
        db.know_place(route, new, shard)
    return new


def is_at_home(db: SqlConnection, route: Route, shard: int) -> bool:
    """Whether the place is in this shard. A place without messages is in the home of its chat."""
    place = find_place(db, route)
    return shard == (shard_of(route_home(route), db.shards) if place is None else db.shard_of_place(place))


def session_shard(db: SqlConnection, session: str) -> int:
    """The shard of a session and all its work, which follows from its key and never changes."""
    return 0 if db.shards == 1 else shard_of(session_home(session), db.shards)


# --- rows ---------------------------------------------------------------------------------------

EVENT = (
    "inbox.id, inbox.accepted, inbox.state, inbox.reason, inbox.attempts, inbox.alone, inbox.shard, inbox.overheard, "
    "inbox.body"
)
INPUT = f"{EVENT}, i.session, i.state, i.turn, i.reason, i.body"
PLACE = "place.channel, place.chat, place.thread, place.account"
TURN = (
    f"{PLACE}, turn.id, turn.session, turn.state, turn.attempts, turn.opened, turn.heard, turn.outcome, "
    "turn.detail, turn.closed, turn.crashes, turn.alone, turn.body"
)
PART = (
    f"{PLACE}, part.id, part.key, part.kind, part.state, part.generation, part.attempts, part.planned, part.turn, "
    "part.retry_at, part.receipt, part.error, part.conceded, part.body"
)
MESSAGE = "message.number, message.body"

EVENT_COLUMNS = EVENT.count(",") + 1


def event_from(row: Row) -> InboxEvent:
    id, accepted, state, reason, attempts, alone, shard, overheard, body = row
    inbound, at = unpack_inbound(body), instant(accepted)
    return InboxEvent(id, inbound, at, state, reason, attempts, alone, shard, bool(overheard))


def input_from(row: Row) -> Input:
    session, state, turn, reason, body = row[EVENT_COLUMNS:]
    return Input(event_from(row[:EVENT_COLUMNS]), session, unseal(body), state, turn, reason)


def route_from(row: Row) -> Route:
    channel, chat, thread, account = row
    return Route(channel, chat, thread or None, account)


def turn_from(row: Row) -> StoredTurn:
    id, session, state, attempts, opened, heard, outcome, detail, closed, crashes, alone, body = row[4:]
    return StoredTurn(
        id=id,
        session=session,
        route=route_from(row[:4]),
        state=state,
        attempts=attempts,
        opened=instant(opened),
        heard=heard,
        payload=unseal(body),
        outcome=outcome,
        detail=detail,
        closed=None if closed is None else instant(closed),
        crashes=crashes,
        alone=alone,
    )


def part_from(row: Row) -> StoredPart:
    id, key, kind, state, generation, attempts, planned, turn, retry_at, receipt, error, omitted, body = row[4:]
    return StoredPart(
        id=id,
        key=key,
        route=route_from(row[:4]),
        body=unseal(body),
        kind=kind,
        state=state,
        generation=generation,
        attempts=attempts,
        planned=instant(planned),
        turn=turn,
        retry_at=None if retry_at is None else instant(retry_at),
        receipt=receipt,
        error=error,
        omitted=tuple(omitted.split()),
    )


def message_from(row: Row) -> IndexedMessage:
    number, body = row
    return replace(unpack_message(body), number=number)
