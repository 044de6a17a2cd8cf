"""The verbs and reads of HTTP hooks."""

from rejoinder.store.hook_events import (
    ClaimedHookEvent,
    ClaimHookEvent,
    EndHookEvent,
    FreeHookEvents,
    HookQueue,
    PutHookEvents,
    RetryHookEvent,
)
from rejoinder.store.rows import HookEvent
from rejoinder.store.sql.connection import Insertion, SqlConnection
from rejoinder.store.sql.values import instant, micros, seal, unseal

HOOK_EVENT = Insertion("hook_event", "hook", "event", "name", "made", "due", "body")


def put_hook_events(db: SqlConnection, verb: PutHookEvents) -> None:
    insert_hook_events(db, verb.events)


def insert_hook_events(db: SqlConnection, events: tuple[HookEvent, ...]) -> None:
    for told in events:
        made = micros(told.made)
        db.insert(HOOK_EVENT, (told.hook, told.event, told.name, made, made, seal(told.body)))


def claim_hook_event(db: SqlConnection, verb: ClaimHookEvent) -> ClaimedHookEvent | None:
    sql = (
        "SELECT id, event, name, made, attempts, body FROM hook_event "
        "WHERE hook = ? AND state = 'waiting' AND due <= ? ORDER BY id LIMIT 1"
    )
    row = db.execute(sql, (verb.hook, micros(verb.now))).fetchone()
    if row is None:
        return None
    id, event, name, made, attempts, body = row
    sql = "UPDATE hook_event SET due = ?, attempts = attempts + 1 WHERE id = ? AND state = 'waiting' AND attempts = ?"
    if not db.change(sql, (micros(verb.until), id, attempts)).rowcount:
        return None
    return ClaimedHookEvent(id, HookEvent(verb.hook, event, name, instant(made), unseal(body)), attempts + 1)


def free_hook_events(db: SqlConnection, verb: FreeHookEvents) -> None:
    now = micros(verb.now)
    db.change("UPDATE hook_event SET due = ? WHERE state = 'waiting' AND due > ?", (now, now))


def end_hook_event(db: SqlConnection, verb: EndHookEvent) -> None:
    claimed = verb.claimed
    sql = "UPDATE hook_event SET state = ?, error = ?, body = ? WHERE id = ? AND state = 'waiting' AND attempts = ?"
    db.change(sql, (verb.state, verb.error, seal(b""), claimed.id, claimed.attempts))


def retry_hook_event(db: SqlConnection, verb: RetryHookEvent) -> None:
    claimed = verb.claimed
    sql = "UPDATE hook_event SET due = ?, error = ? WHERE id = ? AND state = 'waiting' AND attempts = ?"
    db.change(sql, (micros(verb.at), verb.error, claimed.id, claimed.attempts))


def hook_queues(db: SqlConnection) -> tuple[HookQueue, ...]:
    counted: dict[str, dict[str, int]] = {}
    for hook, state, count in db.execute("SELECT hook, state, count(*) FROM hook_event GROUP BY hook, state"):
        counted.setdefault(hook, {})[state] = count
    return tuple([_queue(db, hook, counts) for hook, counts in sorted(counted.items())])


def _queue(db: SqlConnection, hook: str, counts: dict[str, int]) -> HookQueue:
    sql = "SELECT made, error FROM hook_event WHERE hook = ? AND state = 'waiting' ORDER BY id LIMIT 1"
    first = db.execute(sql, (hook,)).fetchone()
    oldest, error = (None, "") if first is None else (instant(first[0]), first[1])
    return HookQueue(hook, counts.get("waiting", 0), counts.get("dead", 0), oldest, error)


def sweep_hook_events(db: SqlConnection, old: int, most: int) -> int:
    first = db.execute("SELECT id, made FROM hook_event ORDER BY id LIMIT ?", (most,)).fetchall()
    gone = [(id,) for id, made in first if made < old]
    db.executemany("DELETE FROM hook_event WHERE id = ?", gone)
    return len(gone)
