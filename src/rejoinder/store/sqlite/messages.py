"""Verbs of the message index: every message of a conversation once, with a short handle (OD-22)."""

import re

from msgspec.structs import replace

from rejoinder.store.base import ClearBotTurns, ForgetMessage, Message, NoteMessages
from rejoinder.store.sqlite.connection import Connection
from rejoinder.store.sqlite.values import DAY, find_place, micros, pack_message, place_of

HANDLE = re.compile(r"m([1-9][0-9]{0,8})")


def note_messages(db: Connection, verb: NoteMessages) -> tuple[Message, ...]:
    place = place_of(db, verb.route)
    return tuple(note(db, place, message) for message in verb.messages)


def note(db: Connection, place: int, message: Message, *, counts: bool = True) -> Message:
    known = db.execute("SELECT number FROM message WHERE place = ? AND id = ?", (place, message.id)).fetchone()
    if known is not None:
        # What is told again, by an edit or by an echo of our own, is the same message.
        edit = "UPDATE message SET body = ? WHERE place = ? AND id = ?"
        db.execute(edit, (pack_message(message), place, message.id))
        return replace(message, number=known[0])
    number = _number(db, place, message.id)
    row = (place, message.id, number, message.kind, pack_message(message))
    db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
    _count(db, place, message, micros(message.at) // DAY, counts)
    return replace(message, number=number)


def _number(db: Connection, place: int, id: str) -> int:
    """The next one; a platform whose ids are handles already keeps them while they are free."""
    spoken = HANDLE.fullmatch(id)
    sql = "UPDATE place SET handles = max(handles + 1, ?) WHERE id = ? RETURNING handles"
    return db.execute(sql, (int(spoken[1]) if spoken else 0, place)).fetchone()[0]


def _count(db: Connection, place: int, message: Message, day: int, counts: bool) -> None:
    """IN-23: only a human ends a row of bots; a pin or a join neither ends it nor adds to it."""
    if message.kind == "human":
        db.execute("UPDATE place SET bot_turns = 0 WHERE id = ?", (place,))
    elif message.kind in ("bot", "own"):
        sql = (
            "UPDATE place SET bot_turns = bot_turns + :one, "
            "bot_today = iif(bot_day = :day, bot_today, 0) + :one, bot_day = :day, "
            "owned = owned OR (:own AND handles = 1), posted = posted OR :own, other_bot = other_bot OR NOT :own "
            "WHERE id = :place"
        )
        db.execute(sql, {"one": counts, "day": day, "own": message.kind == "own", "place": place})


def forget_message(db: Connection, verb: ForgetMessage) -> None:
    db.execute("DELETE FROM message WHERE place = ? AND id = ?", (find_place(db, verb.route), verb.message))


def clear_bot_turns(db: Connection, verb: ClearBotTurns) -> None:
    db.execute("UPDATE place SET bot_turns = 0, bot_today = 0 WHERE id = ?", (find_place(db, verb.route),))
