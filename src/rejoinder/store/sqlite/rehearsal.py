"""Rehearses a message, so that the statements are compiled before the first real message would have to wait for that.

It goes the whole way from the inbox to its receipt, in a transaction that is rolled back, with all reads that the first
message of a place needs.
"""

import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

from msgspec.structs import replace

from rejoinder.errors import RejoinderError
from rejoinder.events import Chat, Inbound, PromptText, Route, Sender, Step
from rejoinder.session import Session
from rejoinder.store.base import (
    Accept,
    AppendTranscript,
    BeginTurn,
    Destination,
    EndRun,
    IndexedMessage,
    MarkSent,
    NoteMessages,
    PartIntent,
    PlanParts,
    PutSession,
    RouteEvent,
    StoredCursor,
    Trace,
    TranscriptEntry,
)
from rejoinder.store.sql import reads
from rejoinder.store.sql.perform import perform
from rejoinder.store.sqlite.connection import Connection

THEN = datetime(2000, 1, 1, tzinfo=UTC)


def rehearse(db: Connection) -> None:
    """Leaves nothing behind, whatever happens. It may fail, because nothing depends on it."""
    drawn = db.numbers.drawn()
    db.execute("BEGIN IMMEDIATE")
    with suppress(RejoinderError, sqlite3.Error):
        _write(db, f"rehearsal {uuid4()}")
    if db.in_transaction:
        db.take_back()
    else:  # after some faults SQLite has rolled it back by itself
        db.forget_all()
    db.numbers.draw_again_from(drawn)


def rehearse_reading(db: Connection) -> None:
    name, here = "rehearsal", Route("rehearsal", "rehearsal")
    with suppress(RejoinderError, sqlite3.Error):
        reads.place(db, here, THEN)
        reads.messages(db, here, 0, 1)
        reads.unheard_messages(db, name, here, 1)
        reads.admission(db, name, name)
        reads.session(db, name)
        reads.agent_session(db, name)
        reads.transcript(db, name, THEN, 1)


def _write(db: Connection, name: str) -> None:
    """`name`: one that nothing else has."""
    here, inbound = Route(name, name), Inbound(name, name, name, Chat(name), Sender(name), name)
    ((event,),) = perform(db, (Accept((inbound,), THEN, StoredCursor(name, name, name)),))
    *_, run, _ = perform(
        db,
        (
            NoteMessages(here, (IndexedMessage(name, name, THEN),)),
            Trace(event.id, THEN, (Step(name, name, name),)),
            RouteEvent(event.id, (Destination(name),)),
            BeginTurn(name, here, (event.id,), THEN),
            PutSession(Session(name, name, THEN, THEN), 0),
        ),
    )
    said = TranscriptEntry("user", (PromptText(name),), THEN, run.turn)
    (part,), _ = perform(
        db,
        (
            PlanParts((PartIntent(name, here, b""),), THEN, run, final=True, claims=True),
            AppendTranscript(name, (said, replace(said, role="agent"))),
        ),
    )
    perform(db, (MarkSent(part, f"{name} answered", THEN), EndRun(run, "answered", THEN)))
