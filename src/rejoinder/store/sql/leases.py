"""Leases on shards, and leases by name (SC-3 to SC-6, SC-10). For a file, the kernel's lock is the lease of the whole
process, and these rows only order the engines within it. In memory they may also expire, like those of a store that
several processes share.

Rule 1: a claim draws a new generation and takes over the work that the last holder left, in one step.
Rule 2: a holder whose generation is not the latest of its shard cannot write (`held`).
Rule 3: `at` is the time of the request, even if the writer has to do a group again.
"""

from collections import Counter
from datetime import datetime

from rejoinder.errors import LeaseLost
from rejoinder.store.base import (
    IN_FLIGHT,
    AnyLease,
    Deployment,
    Lease,
    NamedLease,
    ProcessState,
    Renewal,
    Shard,
    ShardOwners,
)
from rejoinder.store.sql.connection import SqlConnection
from rejoinder.store.sql.outbox import any_of
from rejoinder.store.sql.values import micros

HOUR = 3_600_000_000

UNDER_WAY = (  # there are few runs and many turns: a cross join reads the runs first
    "SELECT turn.id FROM run CROSS JOIN turn ON turn.id = run.turn AND turn.state = 'open' AND turn.shard = :shard"
)
TRYING = "SELECT id FROM inbox WHERE state = 'new' AND trying = 1 AND shard = :shard"
BESIDE = tuple(
    sql.replace("shard = :shard", "shard IN (SELECT id FROM shard WHERE holder = :last AND id <> :shard)")
    for sql in (UNDER_WAY, TRYING)
)
"""The same statements for all other shards of the last holder."""


def held(db: SqlConnection, lease: Lease) -> int:
    """The shard of a valid lease; raises `LeaseLost` for any other lease."""
    if not db.is_latest(lease.shard, lease.generation):
        raise LeaseLost(f"{lease.holder} no longer holds shard {lease.shard}")
    return lease.shard


def claim(db: SqlConnection, shard: int, holder: str, seconds: float | None, at: datetime) -> Lease | None:
    now = micros(at)
    last, until = db.execute("SELECT holder, lease_until FROM shard WHERE id = ?", (shard,)).fetchone()
    if last is not None and last != holder and (until is None or until > now):
        return None
    if last is not None:
        _end_last(db, shard, last, now)
    generation = db.draw_generation(shard)
    db.change(
        "DELETE FROM run WHERE turn IN (SELECT run.turn FROM run CROSS JOIN turn ON turn.id = run.turn "
        "AND turn.shard = ?)",
        (shard,),
    )
    # A part that was being sent may or may not have arrived (DU-3).
    sql = (
        "UPDATE part SET state = 'unknown', error = 'the sender was gone before an answer came', generation = ? "
        "WHERE state = 'sending' AND shard = ?"
    )
    db.change(sql, (generation, shard))
    until = _until(now, seconds)
    sql = "UPDATE shard SET holder = ?, generation = ?, lease_until = ? WHERE id = ?"
    db.change(sql, (holder, generation, until, shard))
    db.know_owner(shard, generation)
    _show(db, holder, until, now)
    return Lease(shard, holder, generation)


def _end_last(db: SqlConnection, shard: int, last: str, now: int) -> None:
    """Records what was under way when the last holder lost the shard. A gateway that ends cleanly leaves nothing."""
    turns = db.execute(UNDER_WAY, {"shard": shard}).fetchall()
    events = db.execute(TRYING, {"shard": shard}).fetchall()
    found = db.execute("SELECT lease_until, under_way FROM process WHERE name = ?", (last,)).fetchone()
    is_alive, before = (found[0] is None or found[0] > now, found[1]) if found else (False, 0)
    if is_alive:  # it only lost the lease, no turn has ended the process: this was no attempt (SC-3)
        db.executemany("UPDATE turn SET attempts = attempts - 1 WHERE id = ? AND attempts > 0", turns)
        db.executemany("UPDATE inbox SET attempts = attempts - 1, trying = 0 WHERE id = ? AND attempts > 0", events)
        return
    # Only something that was under way alone, in all shards of the process, is certain to be involved each time (DU-2).
    beside = len(turns) + len(events) == 1 and any(
        db.execute(f"{sql} LIMIT 1", {"last": last, "shard": shard}).fetchone() for sql in BESIDE
    )
    alone = int(len(turns) + len(events) == 1 and not beside and not before)
    db.executemany(f"UPDATE turn SET crashes = crashes + 1, alone = alone + {alone} WHERE id = ?", turns)
    db.executemany(f"UPDATE inbox SET trying = 0, alone = alone + {alone} WHERE id = ?", events)
    sql = "UPDATE process SET under_way = under_way + ? WHERE name = ?"
    db.change(sql, (len(turns) + len(events), last))


def claim_named(db: SqlConnection, name: str, holder: str, seconds: float | None, at: datetime) -> NamedLease | None:
    now = micros(at)
    db.change("INSERT INTO named_lease VALUES (?, NULL, 0, NULL) ON CONFLICT DO NOTHING", (name,))
    sql = (
        "UPDATE named_lease SET holder = ?, generation = generation + 1, lease_until = ? "
        "WHERE name = ? AND (holder IS NULL OR holder = ? OR lease_until <= ?)"
    )
    until = _until(now, seconds)
    if not db.change(sql, (holder, until, name, holder, now)).rowcount:
        return None
    _show(db, holder, until, now)
    (generation,) = db.execute("SELECT generation FROM named_lease WHERE name = ?", (name,)).fetchone()
    return NamedLease(name, holder, generation)


def renew(
    db: SqlConnection, holder: str, leases: tuple[AnyLease, ...], seconds: float | None, at: datetime, *, claims: bool
) -> Renewal:
    """Renews leases. One that has expired but that nobody has claimed since still belongs to its holder."""
    until = _until(micros(at), seconds)
    kept = (*_kept(db, holder, leases, until, Lease), *_kept(db, holder, leases, until, NamedLease))
    _show(db, holder, until, micros(at))
    db.change("UPDATE process SET claims = ? WHERE name = ? AND claims <> ?", (int(claims), holder, int(claims)))
    return Renewal(kept, at)


def _kept(
    db: SqlConnection, holder: str, leases: tuple[AnyLease, ...], until: int | None, kind: type[AnyLease]
) -> tuple[AnyLease, ...]:
    """Renews all leases of a kind in one step: a process that stops between two steps would lock these rows for
    others."""
    if not (asked := [each for each in leases if isinstance(each, kind)]):
        return ()
    table, key, _ = _row_of(asked[0])
    these = f"{key} IN ({', '.join('?' * len(asked))})"
    keys = [_row_of(each)[2] for each in asked]
    db.change(f"UPDATE {table} SET lease_until = ? WHERE holder = ? AND {these}", (until, holder, *keys))
    found = set(db.execute(f"SELECT {key}, generation FROM {table} WHERE holder = ? AND {these}", (holder, *keys)))
    return tuple(each for each in asked if (_row_of(each)[2], each.generation) in found)


def release(db: SqlConnection, lease: AnyLease) -> None:
    table, key, value = _row_of(lease)
    sql = f"UPDATE {table} SET holder = NULL, lease_until = NULL WHERE {key} = ? AND holder = ? AND generation = ?"
    db.change(sql, (value, lease.holder, lease.generation))


def _row_of(lease: AnyLease) -> tuple[str, str, int | str]:
    return ("shard", "id", lease.shard) if isinstance(lease, Lease) else ("named_lease", "name", lease.name)


def leave(db: SqlConnection, holder: str) -> None:
    db.change("UPDATE shard SET holder = NULL, lease_until = NULL WHERE holder = ?", (holder,))
    db.change("UPDATE named_lease SET holder = NULL, lease_until = NULL WHERE holder = ?", (holder,))
    db.change("DELETE FROM process WHERE name = ?", (holder,))


def owners(db: SqlConnection, at: datetime) -> ShardOwners:
    now = micros(at)
    rows = db.execute("SELECT id, holder, lease_until FROM shard ORDER BY id").fetchall()
    shards = tuple(Shard(id, None if until is not None and until <= now else holder) for id, holder, until in rows)
    valid = "(lease_until IS NULL OR lease_until > ?)"
    sql = f"SELECT name, claims, lease_until FROM process WHERE {valid} ORDER BY name"
    alive = db.execute(sql, (now,)).fetchall()
    processes, fronts = ([name for name, claims, _ in alive if bool(claims) is wanted] for wanted in (True, False))
    sql = f"SELECT name, holder, lease_until FROM named_lease WHERE holder IS NOT NULL AND {valid}"
    named = db.execute(sql, (now,)).fetchall()
    ends = [until for *_, until in (*rows, *alive, *named) if until is not None and until > now]
    first_end = _seconds(min(ends), now) if ends else None
    return ShardOwners(shards, tuple(processes), tuple(fronts), {name: holder for name, holder, _ in named}, first_end)


WAITING = (
    "SELECT shard.holder, count(*), min(inbox.accepted) FROM inbox CROSS JOIN shard ON shard.id = inbox.shard "
    "WHERE inbox.state = 'new' GROUP BY shard.holder"
)


def deployment(db: SqlConnection, at: datetime) -> Deployment:
    """The processes as operators see them (SC-24)."""
    now = micros(at)
    found = owners(db, at)
    held = Counter(shard.holder for shard in found.shards)
    waiting = {holder: (count, _seconds(now, oldest)) for holder, count, oldest in db.execute(WAITING)}
    until = dict(db.execute("SELECT name, lease_until FROM process").fetchall())
    alive = sorted((*((name, True) for name in found.processes), *((name, False) for name in found.fronts)))
    processes: list[ProcessState] = []
    for name, claims in alive:
        duties = tuple(sorted(duty for duty, holder in found.named.items() if holder == name))
        left = None if until[name] is None else _seconds(until[name], now)
        processes.append(ProcessState(name, claims, held[name], duties, left, *waiting.get(name, (0, 0.0))))
    lag = max((lag for _, lag in waiting.values()), default=0.0)
    return Deployment(len(found.shards), held[None], lag, tuple(processes))


def _seconds(later: int, earlier: int) -> float:
    return max(0.0, (later - earlier) / 1e6)


WITH_WORK = (
    "SELECT shard FROM inbox WHERE state = 'new' UNION SELECT shard FROM inbox WHERE wanted = 1 "
    f"UNION SELECT shard FROM turn WHERE wanted = 1 UNION SELECT shard FROM part WHERE {any_of('state', IN_FLIGHT)} "
    "UNION SELECT shard FROM home_request"
)


def shards_with_work(db: SqlConnection) -> frozenset[int]:
    return frozenset(shard for (shard,) in db.execute(WITH_WORK))


def all_have_ended(db: SqlConnection) -> None:
    """Called under the kernel's lock on the file, so no other process can hold anything (SC-5)."""
    db.change("UPDATE shard SET lease_until = 0 WHERE holder IS NOT NULL")
    db.change("UPDATE named_lease SET lease_until = 0 WHERE holder IS NOT NULL")
    db.change("UPDATE process SET lease_until = 0")


def _show(db: SqlConnection, holder: str, until: int | None, now: int) -> None:
    """Shows others that the process is alive, and forgets processes that ended long ago."""
    sql = (
        "INSERT INTO process (name, lease_until) VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET lease_until = excluded.lease_until"
    )
    db.change(sql, (holder, until))
    sql = "DELETE FROM process WHERE lease_until < ? AND NOT EXISTS (SELECT 1 FROM shard WHERE holder = process.name)"
    db.change(sql, (now - HOUR,))


def _until(now: int, seconds: float | None) -> int | None:
    return None if seconds is None else now + round(seconds * 1e6)
