"""Verbs of the gateway's memory: sessions, transcripts, traces, pairing."""

from functools import cache
from typing import Any

from rejoinder.errors import Superseded
from rejoinder.events import Step
from rejoinder.session import Session, session_home
from rejoinder.store.base import (
    AgentSession,
    AppendTranscript,
    EditAllow,
    PairingRequest,
    PairSender,
    PutAgentSession,
    PutPairingRequest,
    PutSession,
    QuarantineSession,
    Trace,
    TranscriptEntry,
    Unpair,
)
from rejoinder.store.sql.connection import Insertion, SqlConnection
from rejoinder.store.sql.values import Row, instant, micros, packer, seal, session_shard, unseal

pack_session, unpack_session = packer(Session)
pack_entry, unpack_entry = packer(TranscriptEntry)
pack_steps, unpack_steps = packer(tuple[Step, ...])

QUARANTINE_MARK = "%aside-"
"""Occurs in no session key, because there a percent sign is followed by two hexadecimal digits."""
ALLOW_EDIT = Insertion("allow_edit", "channel", "entry", "listed")
PAIRING_COLUMNS = "channel, account, sender, code, asked, told, expires"


def pack_agent_session(saved: AgentSession) -> bytes:
    """Writes the id, and the machine on the last line, which may be empty. Earlier versions, which may still run beside
    this one (SC-23), read this form."""
    return seal(f"{saved.id}\n{saved.machine}".encode())


def unpack_agent_session(body: bytes) -> AgentSession:
    """Reads it back; an earlier version wrote no line for the machine if there was none."""
    text = unseal(body).decode()
    id, line, machine = text.rpartition("\n")
    return AgentSession(id, machine) if line else AgentSession(text)


def put_session(db: SqlConnection, verb: PutSession) -> int:
    session, version = verb.session, verb.version + 1
    row = (version, micros(session.touched), pack_session(session), session.key)
    if verb.version == 0:
        sql = (
            "INSERT INTO session (version, touched, body, key, home, shard) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING"
        )
        row = (*row, session_home(session.key), session_shard(db, session.key))
    else:
        sql = "UPDATE session SET version = ?, touched = ?, body = ? WHERE key = ? AND version = ?"
        row = (*row, verb.version)
    db.move(sql, row, "session %s", session.key)
    return version


def quarantine_session(db: SqlConnection, verb: QuarantineSession) -> None:
    key = f"{verb.session}{QUARANTINE_MARK}{micros(verb.now)}"
    db.move("UPDATE session SET key = ? WHERE key = ?", (key, verb.session), "session %s", verb.session)


def put_agent_session(db: SqlConnection, verb: PutAgentSession) -> None:
    if verb.saved is None:
        db.change("DELETE FROM agent_session WHERE session = ?", (verb.session,))
    else:
        sql = "INSERT INTO agent_session VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET body = excluded.body"
        db.change(sql, (verb.session, pack_agent_session(verb.saved)))


def append_transcript(db: SqlConnection, verb: AppendTranscript) -> None:
    if not verb.entries:
        return
    turn = verb.entries[0].turn
    if turn is not None and turn == db.last_turn(verb.session, lambda: _last_turn(db, verb.session)):
        return
    values: list[Any] = []
    for entry in verb.entries:
        values += (verb.session, micros(entry.at), pack_entry(entry))
    db.change(_append(len(verb.entries)), values)
    db.know_last_turn(verb.session, verb.entries[-1].turn)


@cache
def _append(rows: int) -> str:
    return f"INSERT INTO transcript (session, at, body) VALUES {', '.join(['(?, ?, ?)'] * rows)}"


def _last_turn(db: SqlConnection, session: str) -> int | None:
    # Sorted like the index: by id alone, everything that other sessions have said since would be read.
    sql = "SELECT body FROM transcript WHERE session = ? ORDER BY at DESC, id DESC LIMIT 1"
    row = db.execute(sql, (session,)).fetchone()
    return None if row is None else unpack_entry(row[0]).turn


def trace(db: SqlConnection, verb: Trace) -> None:
    if verb.steps:
        row = (verb.event, micros(verb.at), pack_steps(verb.steps))
        db.change("INSERT INTO trace (event, at, body) VALUES (?, ?, ?)", row)


def put_pairing_request(db: SqlConnection, verb: PutPairingRequest) -> None:
    request = verb.request
    times = (micros(request.asked), micros(request.told), micros(request.expires))
    row = (request.channel, request.account, request.sender, request.code, *times)
    if verb.most is not None:  # only one process at a time counts the requests of an account: others wait for this row
        sql = "INSERT INTO fact VALUES (?, ?, ?) ON CONFLICT (scope, key) DO UPDATE SET body = excluded.body"
        db.change(sql, ("gateway/pairing", f"{request.channel}/{request.account}", b""))
    # By chance, once in millions of times, a code is drawn that another stranger has; then the latest has it.
    db.change("DELETE FROM knock WHERE channel = ? AND account = ? AND sender = ? OR code = ?", row[:4])
    if verb.most is None:
        db.change(f"INSERT INTO knock ({PAIRING_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return
    others = "SELECT count(*) FROM knock WHERE channel = ? AND account = ? AND expires > ?"
    sql = f"INSERT INTO knock ({PAIRING_COLUMNS}) SELECT ?, ?, ?, ?, ?, ?, ? WHERE ({others}) < ? RETURNING code"
    if db.execute(sql, (*row, request.channel, request.account, times[1], verb.most)).fetchone() is None:
        raise Superseded(f"{verb.most} pairing requests are pending on {request.channel}/{request.account}")


def approve_pairing(db: SqlConnection, verb: PairSender) -> PairingRequest | None:
    sql = f"DELETE FROM knock WHERE code = ? AND expires > ? RETURNING {PAIRING_COLUMNS}"
    row = db.execute(sql, (verb.code.upper(), micros(verb.now))).fetchone()
    if row is None:
        return None
    request = pairing_request_from(row)
    paired = (request.channel, request.account, request.sender, micros(verb.now))
    db.change("INSERT INTO paired VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", paired)
    return request


def unpair(db: SqlConnection, verb: Unpair) -> None:
    paired = (verb.paired.channel, verb.paired.account, verb.paired.sender)
    db.change("DELETE FROM paired WHERE channel = ? AND account = ? AND sender = ?", paired)


def edit_allow(db: SqlConnection, verb: EditAllow) -> None:
    edit = verb.edit
    db.change("DELETE FROM allow_edit WHERE channel = ? AND entry = ?", (edit.channel, edit.entry))
    db.insert(ALLOW_EDIT, (edit.channel, edit.entry, edit.listed))


def pairing_request_from(row: Row) -> PairingRequest:
    channel, account, sender, code, asked, told, expires = row
    return PairingRequest(channel, account, sender, code, instant(asked), instant(told), instant(expires))
