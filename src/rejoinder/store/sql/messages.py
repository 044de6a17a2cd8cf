"""Verbs of the message index, which has every message of a conversation once, with a short handle (OD-22)."""

import re

from msgspec.structs import replace

from rejoinder.store.base import ClearBotTurns, ForgetMessage, IndexedMessage, NoteMessages
from rejoinder.store.sql.connection import Rows, SqlConnection
from rejoinder.store.sql.values import day_of, find_place, pack_message, place_of

HANDLE = re.compile(r"m([1-9][0-9]{0,8})")


def note_messages(db: SqlConnection, verb: NoteMessages) -> tuple[IndexedMessage, ...]:
    place = place_of(db, verb.route)
    return db.all_later([note(db, place, message) for message in verb.messages])


NOTE = (
    "INSERT INTO message VALUES (:place, :id, "
    "(SELECT CASE WHEN handles >= :spoken THEN handles + 1 ELSE :spoken END FROM place WHERE id = :place "
    "/* FOR UPDATE */), "
    ":kind, :body, :shard) ON CONFLICT (place, id) DO UPDATE SET body = excluded.body, "
    "kind = CASE WHEN message.kind = 'system' THEN excluded.kind ELSE message.kind END RETURNING number"
)
"""A message that is reported again, as an edit or as an echo of our own, is the same message and keeps its number. The
place is locked, because both the owner of a session and the owner of its chat note messages there (SC-1)."""
NEXT = "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
NUMBER = "SELECT number FROM message WHERE place = :place AND message.id = :id"
OPENS = (
    "CASE WHEN EXISTS (SELECT 1 FROM part WHERE part.turn = :turn AND part.id <> :part AND part.state = 'sent' "
    "AND part.receipt IS NOT NULL) THEN 0 ELSE 1 END"
)
"""An answer counts as one turn of ours, however many parts it has (IN-23)."""
TODAY = "bot_today = CASE WHEN bot_day = :day THEN bot_today ELSE 0 END"


def _count(number: str, condition: str = "") -> dict[str, str]:
    """The statements that count a message in its place (IN-23): only a human ends a row of bot turns; a pin or a join
    neither ends it nor adds to it."""
    here = f"WHERE place.id = :place {condition}"
    return {
        "human": f"UPDATE place SET handles = {number}, bot_turns = 0 {here}",
        "system": f"UPDATE place SET handles = {number} {here}",
        "bot": f"UPDATE place SET handles = {number}, bot_turns = bot_turns + 1, {TODAY} + 1, bot_day = :day, "
        f"other_bot = 1 {here}",
        "own": f"UPDATE place SET handles = {number}, bot_turns = bot_turns + {OPENS}, {TODAY} + {OPENS}, "
        f"bot_day = :day, owned = CASE WHEN handles = 0 THEN 1 ELSE owned END, posted = 1 {here}",
    }


COUNT = _count(f"({NUMBER})", f"AND handles < ({NUMBER})")
"""A message that was reported before changes nothing, because its number is not above those given out."""
COUNT_NEXT = _count(":number")


def note(
    db: SqlConnection, place: int, message: IndexedMessage, turn: int | None = None, part: int | None = None
) -> IndexedMessage:
    """Gives the message the next number. An id that is itself a handle keeps its number if that is still free. `turn`
    and `part`: the ones in which it was said."""
    spoken = HANDLE.fullmatch(message.id) if message.id.startswith("m") else None
    body, shard = pack_message(message), db.shard_of_place(place)
    said_in = {"place": place, "day": day_of(message.at), "turn": turn, "part": part}
    if spoken is None and (last := db.last_number(place)) is not None:
        number = said_in["number"] = last + 1
        if db.change(NEXT, (place, message.id, number, message.kind, body, shard)).rowcount:
            db.change(COUNT_NEXT[message.kind], said_in)
            db.know_last_number(place, number)
            return replace(message, number=number)
    here = {"place": place, "id": message.id}
    given = {"kind": message.kind, "body": body, "spoken": int(spoken[1]) if spoken else 0, "shard": shard}
    found = db.execute(NOTE, {**here, **given})
    db.change(COUNT[message.kind], {**here, **said_in})
    db.know_last_number(place, None)

    def numbered(rows: Rows) -> IndexedMessage:
        return replace(message, number=rows.fetchone()[0])

    return db.later(lambda: numbered(found), lambda again: numbered(again.execute(NUMBER, here)))


def forget_message(db: SqlConnection, verb: ForgetMessage) -> None:
    db.change("DELETE FROM message WHERE place = ? AND id = ?", (find_place(db, verb.route), verb.message))


def clear_bot_turns(db: SqlConnection, verb: ClearBotTurns) -> None:
    db.change("UPDATE place SET bot_turns = 0, bot_today = 0 WHERE id = ?", (find_place(db, verb.route),))
