"""Upkeep of the store itself: its numbers, and removing old rows."""

from collections.abc import Iterator

from rejoinder.crashpoint import crashpoint
from rejoinder.store.base import Retention, Sweep
from rejoinder.store.sql.blobs import forget_parts, sweep_blobs
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.hook_events import sweep_hook_events
from rejoinder.store.sql.questions import sweep_questions
from rejoinder.store.sql.subagents import sweep_subagents
from rejoinder.store.sql.values import Row, micros

CLAIMS = 32
"""Bits for the claims of one opening, whose generations are drawn without a write. Those of the next opening are
higher."""
PAGE_ROWS = 1000


def draw_opening(db: SqlConnection) -> int:
    """Draws a generation higher than all before, at every opening and at every claim in a shared store."""
    drawn = db.execute("UPDATE gateway SET generation = generation + 1 RETURNING generation").fetchone()[0]
    return drawn << CLAIMS


def sweep(db: SqlConnection, verb: Sweep) -> int:
    keep, now = verb.keep, micros(verb.now)
    old, most = micros(keep.ended_before), keep.rows
    db.keep_numbers()
    removed = _sweep_turns(db, old, now, most) + _sweep_parts(db, old, now, most)
    crashpoint("K26")
    removed += _sweep_events(db, old, now, most)
    removed += _sweep_messages(db, keep) + sweep_blobs(db, keep, now) + sweep_hook_events(db, old, most)
    removed += sweep_subagents(db, old, most) + sweep_questions(db, old, most)
    return removed + db.change("DELETE FROM knock WHERE expires <= ?", (now,)).rowcount


def _sweep_turns(db: SqlConnection, old: int, now: int, most: int) -> int:
    """Removes whole turns, and none with a part that an operator may still ask about."""
    sql = (
        "SELECT id FROM turn WHERE closed < ? AND NOT EXISTS "
        "(SELECT 1 FROM part WHERE part.turn = turn.id AND part.state NOT IN ('sent', 'withdrawn')) LIMIT ?"
    )
    turns = db.execute(sql, (old, most)).fetchall()
    for turn in turns:
        forget_parts(db, [key for (key,) in db.execute("SELECT key FROM part WHERE turn = ?", turn)], now)
    for table, column in (("part", "turn"), ("turn_input", "turn"), ("turn", "id")):
        db.executemany(f"DELETE FROM {table} WHERE {column} = ?", turns)
    return len(turns)


def _sweep_parts(db: SqlConnection, old: int, now: int, most: int) -> int:
    """Removes the gateway's own messages."""
    ended = "turn IS NULL AND state IN ('sent', 'withdrawn') AND planned < ?"
    parts = db.execute(f"SELECT id, key FROM part WHERE {ended} LIMIT ?", (old, most)).fetchall()
    forget_parts(db, [key for _, key in parts], now)
    db.executemany("DELETE FROM part WHERE id = ?", [(id,) for id, _ in parts])
    return len(parts)


def _sweep_events(db: SqlConnection, old: int, now: int, most: int) -> int:
    """Removes events in order of arrival, up to the first young one. An index by time would cost every message."""
    sql = (
        "SELECT id, accepted, state <> 'new' AND NOT EXISTS "
        "(SELECT 1 FROM turn_input i WHERE i.event = inbox.id AND i.state <> 'dropped') FROM inbox "
        "WHERE id > ? ORDER BY id LIMIT ?"
    )
    events: list[tuple[int]] = []
    for id, accepted, has_ended in in_pages(db, sql):
        # A time in the future comes from a wrong clock, and does not stop the sweep.
        if old <= accepted <= now or len(events) == most:
            break
        if accepted < old and has_ended:
            events.append((id,))
    for table, column in (("trace", "event"), ("turn_input", "event"), ("inbox", "id")):
        db.executemany(f"DELETE FROM {table} WHERE {column} = ?", events)
    return len(events)


def _sweep_messages(db: SqlConnection, keep: Retention) -> int:
    # Numbers are given in order, so the lowest are the oldest, and no row has to be counted.
    sql = (
        "DELETE FROM message WHERE (place, id) IN (SELECT message.place, message.id FROM place "
        "JOIN message ON message.place = place.id AND message.number <= place.handles - ? LIMIT ?)"
    )
    return db.change(sql, (keep.messages, keep.rows)).rowcount


def in_pages(db: SqlConnection, sql: str) -> Iterator[Row]:
    """Reads many rows by id, page by page, because often only the beginning is needed and not every engine returns row
    by row."""
    last, found = 0, PAGE_ROWS
    while found == PAGE_ROWS:
        found = 0
        for row in db.execute(sql, (last, PAGE_ROWS)):
            last, found = row[0], found + 1
            yield row
