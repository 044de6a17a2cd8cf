"""The verbs and reads of scheduled jobs."""

from datetime import datetime

from rejoinder.crashpoint import crashpoint
from rejoinder.session import session_home
from rejoinder.store.base import (
    Accept,
    CreateOwnEvent,
    InboxEvent,
    JobReply,
    JobState,
    PauseJob,
    PutJob,
    RecordJobReply,
    RequestJobRun,
    RouteEvent,
    SkipTick,
    StoredJob,
    Tick,
)
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.inbox import accept, route_event
from rejoinder.store.sql.values import Row, instant, micros, place_of

JOBS = (
    "SELECT job.name, job.schedule, job.due, job.anew, job.paused, job.wanted, job.fired, job.passed, job.reason, "
    "i.state, i.reason, turn.state, turn.outcome, turn.detail FROM job "
    "LEFT JOIN turn_input i ON i.event = job.event LEFT JOIN turn ON turn.id = i.turn ORDER BY job.name"
)


def put_job(db: SqlConnection, verb: PutJob) -> None:
    sql = (
        "INSERT INTO job (name, schedule, due) VALUES (?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET schedule = excluded.schedule, due = excluded.due, anew = 0"
    )
    db.change(sql, (verb.job, verb.schedule, _micros(verb.due)))


def create_own_event(db: SqlConnection, verb: CreateOwnEvent) -> InboxEvent | None:
    place_of(db, verb.inbound.route)  # a new chat is its own home, not that of the session
    accepted = accept(db, Accept((verb.inbound,), verb.now, homes=(session_home(verb.to.session),)))
    for event in accepted:
        route_event(db, RouteEvent(event.id, (verb.to,)))
        if verb.tick is not None:
            _move(db, verb.tick, "fired = ?, event = ?, ", micros(verb.now), event.id)
    if verb.tick is not None and not accepted:
        _move(db, verb.tick, "")
    crashpoint("K3")
    return accepted[0] if accepted else None


def skip_tick(db: SqlConnection, verb: SkipTick) -> None:
    _move(db, verb.tick, "passed = ?, reason = ?, ", micros(verb.now), verb.reason)


def _move(db: SqlConnection, tick: Tick, changes: str, *values: int | str) -> None:
    sql = f"UPDATE job SET {changes}due = ?, wanted = 0 WHERE name = ? AND due IS ?"
    db.move(sql, (*values, _micros(tick.next), tick.job, _micros(tick.due)), "the job %s", tick.job)


def record_job_reply(db: SqlConnection, verb: RecordJobReply) -> None:
    db.change("DELETE FROM said WHERE job = ? AND at < ?", (verb.job, micros(verb.since)))
    said = (verb.job, verb.said.digest, verb.said.stem, micros(verb.said.at))
    sql = (
        "INSERT INTO said (job, digest, stem, at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (job, digest) DO UPDATE SET stem = excluded.stem, at = excluded.at"
    )
    db.change(sql, said)


def pause_job(db: SqlConnection, verb: PauseJob) -> None:
    sql = "UPDATE job SET paused = ?, due = NULL, anew = ? WHERE name = ?"
    db.move(sql, (verb.paused, not verb.paused, verb.job), "the job %s", verb.job)


def request_job_run(db: SqlConnection, verb: RequestJobRun) -> None:
    db.move("UPDATE job SET wanted = 1 WHERE name = ?", (verb.job,), "the job %s", verb.job)


def jobs(db: SqlConnection) -> tuple[StoredJob, ...]:
    return tuple(map(_job_from, db.execute(JOBS)))


def earlier_job_reply(db: SqlConnection, job: str, digest: str) -> JobReply | None:
    row = db.execute("SELECT stem, at FROM said WHERE job = ? AND digest = ?", (job, digest)).fetchone()
    return None if row is None else JobReply(digest, row[0], instant(row[1]))


def _job_from(row: Row) -> StoredJob:
    name, schedule, due, anew, paused, wanted, fired, passed, reason = row[:9]
    of_input, dropped_for, of_turn, outcome, detail = row[9:]
    return StoredJob(
        name=name,
        schedule=schedule,
        due=_instant(due),
        needs_schedule=bool(anew),
        paused=bool(paused),
        wanted=bool(wanted),
        fired=_instant(fired),
        passed=_instant(passed),
        reason=reason,
        state=_state(of_input, of_turn),
        outcome="dropped" if of_input == "dropped" else outcome,
        detail=detail or dropped_for or "",
    )


def _state(of_input: str | None, of_turn: str | None) -> JobState | None:
    if of_turn is None:
        return None if of_input is None else "over" if of_input == "dropped" else "waiting"
    if of_turn == "quarantined":
        return "quarantined"
    return "over" if of_turn == "closed" else "running"


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


def _instant(number: int | None) -> datetime | None:
    return None if number is None else instant(number)
