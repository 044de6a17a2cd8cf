"""Verbs of the message index: every message of a conversation once, with a short handle (OD-22)."""

import re

from msgspec.structs import replace

from rejoinder.store.base import ClearBotTurns, ForgetMessage, IndexedMessage, NoteMessages
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.values import DAY, find_place, micros, pack_message, place_of

HANDLE = re.compile(r"m([1-9][0-9]{0,8})")


def note_messages(db: SqlConnection, verb: NoteMessages) -> tuple[IndexedMessage, ...]:
    place = place_of(db, verb.route)
    return tuple(note(db, place, message) for message in verb.messages)


NOTE = "INSERT INTO message VALUES (:place, :id, :number, :kind, :body, :shard) ON CONFLICT (place, id) DO NOTHING"
EDIT = (
    "UPDATE message SET body = :body, kind = CASE WHEN kind = 'system' THEN :kind ELSE kind END "
    "WHERE place = :place AND id = :id RETURNING number"
)
COUNT = {
    "human": "UPDATE place SET handles = :number, bot_turns = 0 WHERE id = :place",
    "system": "UPDATE place SET handles = :number WHERE id = :place",
    "bot": "UPDATE place SET handles = :number, bot_turns = bot_turns + :one, "
    "bot_today = CASE WHEN bot_day = :day THEN bot_today ELSE 0 END + :one, bot_day = :day, "
    "other_bot = 1 WHERE id = :place",
    "own": "UPDATE place SET handles = :number, bot_turns = bot_turns + :one, "
    "bot_today = CASE WHEN bot_day = :day THEN bot_today ELSE 0 END + :one, bot_day = :day, "
    "owned = CASE WHEN handles = 0 THEN 1 ELSE owned END, posted = 1 WHERE id = :place",
}
"""What a place records of its speakers (IN-23): only a human ends a row of bot turns; a pin or a join neither ends it
nor adds to it."""


def note(db: SqlConnection, place: int, message: IndexedMessage, *, counts: bool = True) -> IndexedMessage:
    """Gives the message the next number; an id that is itself a handle keeps its number if that is still free."""
    spoken = HANDLE.fullmatch(message.id)
    if (handles := db.known_handles(place)) is None:
        (handles,) = db.execute("SELECT handles FROM place WHERE id = ?", (place,)).fetchone()
    number = max(handles + 1, int(spoken[1]) if spoken else 0)
    body = pack_message(message)
    new = {"place": place, "id": message.id, "kind": message.kind, "body": body}
    if not db.execute(NOTE, {**new, "number": number, "shard": db.shard_of_place(place)}).rowcount:
        # A message told again, by an edit or as an echo of our own, is the same message.
        return replace(message, number=db.execute(EDIT, new).fetchone()[0])
    day = micros(message.at) // DAY
    db.execute(COUNT[message.kind], {"place": place, "number": number, "one": counts, "day": day})
    db.know_handles(place, number)
    return replace(message, number=number)


def forget_message(db: SqlConnection, verb: ForgetMessage) -> None:
    db.execute("DELETE FROM message WHERE place = ? AND id = ?", (find_place(db, verb.route), verb.message))


def clear_bot_turns(db: SqlConnection, verb: ClearBotTurns) -> None:
    db.execute("UPDATE place SET bot_turns = 0, bot_today = 0 WHERE id = ?", (find_place(db, verb.route),))
