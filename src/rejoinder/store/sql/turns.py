"""Verbs of turns and runs: one active run for each session, each fenced by its generation."""

from rejoinder.store.base import (
    BeginTurn,
    Busy,
    CloseTurn,
    EndRun,
    QuarantineTurn,
    ReadmitTurn,
    ReleaseRun,
    RequestTurnRerun,
    ResumeTurn,
    RunClaim,
    SteerInputs,
)
from rejoinder.store.sql import reads
from rejoinder.store.sql.connection import Insertion, SqlConnection, superseded
from rejoinder.store.sql.inbox import put_input
from rejoinder.store.sql.values import RUN, hold, micros, place_of, seal, session_shard

FREE = f"DELETE FROM {RUN}"
TAKE = "UPDATE turn_input SET state = ?, turn = ? WHERE event = ? AND session = ? AND state = 'waiting'"
LEFT_OPEN = "state IN ('open', 'answered')"
CLOSE = f"UPDATE turn SET state = 'closed', outcome = ?, detail = ?, closed = ? WHERE id = ? AND {LEFT_OPEN}"
UNCLAIMED = "NOT EXISTS (SELECT 1 FROM run WHERE run.turn = turn.id)"

# The partial index has the wider condition; SQLite would not use it for the narrower one alone.
UNTOLD = "session = ? AND turn IS NULL AND state IN ('waiting', 'summarised') AND state = 'summarised'"

_COLUMNS = ("session", "place", "opened", "heard", "shard", "body")
ANY_TURN = Insertion("turn", *_COLUMNS)
ORDINARY_TURN = Insertion(
    "turn",
    *_COLUMNS,
    where=f"NOT EXISTS (SELECT 1 FROM run WHERE session = ?) AND NOT EXISTS (SELECT 1 FROM turn_input WHERE {UNTOLD})",
)
"""For a free session without summarised messages, which is the usual case."""


def begin_turn(db: SqlConnection, verb: BeginTurn) -> RunClaim | Busy:
    session, place = verb.session, place_of(db, verb.route)
    row = (session, place, micros(verb.now), verb.heard, session_shard(db, session), seal(verb.payload))
    turn = db.insert(ORDINARY_TURN, (*row, session, session)) if verb.tells else None
    if turn is None:
        if (busy := _active(db, session)) is not None:
            if verb.brings is not None:
                put_input(db, verb.events[0], session, verb.brings)
            return busy
        turn = db.insert(ANY_TURN, row)
        assert turn is not None, "its number is new"
        if verb.tells:
            db.change(f"UPDATE turn_input SET turn = ? WHERE {UNTOLD}", (turn, session))
    if verb.brings is not None:
        put_input(db, verb.events[0], verb.session, verb.brings, turn)
    else:
        for event in verb.events:
            db.move(TAKE, ("taken", turn, event, verb.session), "event %s in %s", event, verb.session)
    return _claim(db, RunClaim(verb.session, turn, db.numbers.next_generation(), attempt=1))


def resume_turn(db: SqlConnection, verb: ResumeTurn) -> RunClaim | Busy:
    sql = "SELECT session, state, attempts FROM turn WHERE id = ? AND state IN ('open', 'answered')"
    found = db.execute(sql, (verb.turn,)).fetchone()
    if found is None:
        raise superseded("turn %s", verb.turn)
    session, state, attempts = found
    if (busy := _active(db, session)) is not None:
        return busy
    answered = state == "answered"
    attempt = attempts + (not answered)
    sql = "UPDATE turn SET attempts = ? WHERE id = ? AND state = ? AND attempts = ?"
    db.move(sql, (attempt, verb.turn, state, attempts), "turn %s", verb.turn)
    run = RunClaim(session, verb.turn, db.numbers.next_generation(), attempt, answered)
    return _claim(db, run)


def close_turn(db: SqlConnection, verb: CloseTurn) -> None:
    ended = (verb.outcome, verb.detail, micros(verb.now), verb.turn)
    db.move(f"{CLOSE} AND {UNCLAIMED}", ended, "turn %s", verb.turn)


def quarantine_turn(db: SqlConnection, verb: QuarantineTurn) -> None:
    sql = "UPDATE turn SET state = 'quarantined', closed = ?, detail = ? WHERE id = ? AND state = 'open'"
    db.move(f"{sql} AND {UNCLAIMED}", (micros(verb.now), verb.why, verb.turn), "turn %s", verb.turn)


def request_turn_rerun(db: SqlConnection, verb: RequestTurnRerun) -> None:
    """Raises `Unreadable` for a turn that cannot be read, because it would stay quarantined."""
    reads.turn(db, verb.turn)
    sql = "UPDATE turn SET wanted = 1 WHERE id = ? AND state = 'quarantined'"
    db.move(sql, (verb.turn,), "turn %s", verb.turn)


def readmit_turn(db: SqlConnection, verb: ReadmitTurn) -> tuple[int, ...]:
    sql = (
        "UPDATE turn SET state = 'closed', outcome = 'dropped', detail = 'run again as another turn', closed = ?, "
        "wanted = 0 WHERE id = ? AND state = 'quarantined'"
    )
    db.move(sql, (micros(verb.now), verb.turn), "turn %s", verb.turn)
    taken = "turn = ? AND state IN ('taken', 'steered')"
    events = db.execute(f"SELECT event FROM turn_input WHERE {taken} ORDER BY event", (verb.turn,)).fetchall()
    db.change(f"UPDATE turn_input SET state = 'waiting', turn = NULL WHERE {taken}", (verb.turn,))
    db.change("UPDATE turn_input SET turn = NULL WHERE turn = ? AND state = 'summarised'", (verb.turn,))
    return tuple([event for (event,) in events])


def _active(db: SqlConnection, session: str) -> Busy | None:
    row = db.exceptional("SELECT turn FROM run WHERE session = ?", (session,))
    return Busy(row[0]) if row else None


def _claim(db: SqlConnection, run: RunClaim) -> RunClaim:
    db.change("INSERT INTO run VALUES (?, ?, ?)", (run.session, run.turn, run.generation))
    return run


def steer_inputs(db: SqlConnection, verb: SteerInputs) -> None:
    hold(db, verb.run)
    for event in verb.events:
        fence = ("steered", verb.run.turn, event, verb.run.session)
        db.move(TAKE, fence, "event %s in %s", event, verb.run.session)


def end_run(db: SqlConnection, verb: EndRun) -> None:
    _free(db, verb.run)
    ended = (verb.outcome, verb.detail, micros(verb.now), verb.run.turn)
    db.move(CLOSE, ended, "turn %s", verb.run.turn)


def release_run(db: SqlConnection, verb: ReleaseRun) -> None:
    _free(db, verb.run)
    # An answered turn is not counted when it is resumed, so there is nothing to give back either.
    sql = (
        "UPDATE turn SET attempts = attempts - CASE WHEN state = 'open' THEN 1 ELSE 0 END "
        "WHERE id = ? AND state IN ('open', 'answered')"
    )
    db.move(sql, (verb.run.turn,), "turn %s", verb.run.turn)


def _free(db: SqlConnection, run: RunClaim) -> None:
    db.move(FREE, (run.session, run.turn, run.generation), "the run of turn %s", run.turn)
