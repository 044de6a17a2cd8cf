"""SC-3, SC-5, SC-6: how long a process may act for its shards, and who renews that."""

import asyncio
import threading
import time
from datetime import UTC, datetime, timedelta
from math import inf

import pytest

from rejoinder.errors import LeaseLost
from rejoinder.runtime.ownership.database_clock import DatabaseClock
from rejoinder.runtime.ownership.held_lease import MARGIN, HeldLease, deadline_of
from rejoinder.runtime.ownership.lease_renewer import LeaseRenewer
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import Lease, Renewal
from rejoinder.testing.patience import PATIENCE

LEASE = Lease(3, "one", 7)
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def test_it_ends_at_its_deadline_before_anything_is_done() -> None:
    """SC-3: whoever asks first finds it, and the engine is told once; a late renewal brings nothing back."""
    seconds, told = [0.0], list[str]()
    held_lease = HeldLease(LEASE, deadline_of(0.0, 10.0), lambda: seconds[0])
    held_lease.on_loss(lambda: told.append("lost"))
    seconds[0] = 10 - MARGIN - 0.1
    held_lease.check()
    held_lease.renewed(deadline_of(seconds[0], 10.0))
    seconds[0] += 10 - MARGIN
    assert told == []
    with pytest.raises(LeaseLost, match="one no longer holds shard 3"):
        held_lease.check()
    held_lease.renewed(inf)
    assert not held_lease.holds
    assert told == ["lost"]


def test_a_lease_that_does_not_run_out_has_no_deadline() -> None:
    """SC-5: a laptop may sleep."""
    assert deadline_of(5.0, None) == inf
    assert HeldLease(LEASE).holds


class Renews:
    """A store of which only the renewals are asked."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    async def renew(self, holder: str, leases: tuple[Lease, ...], *, claims: bool) -> Renewal:
        self.threads.add(threading.current_thread().name)
        return Renewal(leases, NOW)


async def test_leases_are_renewed_in_a_thread_and_told_in_the_loop() -> None:
    """SC-5: with the time at which the renewal was sent."""
    store, told, here = Renews(), asyncio.Event(), threading.current_thread()

    def renewed(sent: float, asked: tuple[Lease, ...], renewal: Renewal) -> None:
        assert threading.current_thread() is here
        assert (asked, renewal.held) == ((LEASE,), (LEASE,))
        told.set()

    async with Tasks() as tasks:
        tasks.start("renew", LeaseRenewer(store, "one", lambda: (LEASE,), renewed, seconds=0.03).run())
        await asyncio.wait_for(told.wait(), PATIENCE)
    assert store.threads == {"rejoinder-leases"}


async def test_a_loop_that_hangs_is_not_renewed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-5: for other processes it is as good as dead."""
    monkeypatch.setattr("rejoinder.runtime.ownership.lease_renewer.STILL", 0.0)
    store = Renews()
    renewer = LeaseRenewer(store, "one", lambda: (LEASE,), lambda *_: None, seconds=0.03)
    async with Tasks() as tasks:
        tasks.start("renew", renewer.run())
        await asyncio.sleep(0)
        ends = time.monotonic() + PATIENCE
        while "was blocked for" not in caplog.text and time.monotonic() < ends:
            time.sleep(0.01)  # noqa: ASYNC251 - the loop hangs
    assert "was blocked for" in caplog.text
    assert store.threads == set()


def test_the_time_of_the_store_goes_on_by_itself() -> None:
    """SC-6: from what the store said last, whatever the clock of the machine does."""
    seconds = [0.0]
    clock = DatabaseClock(lambda: NOW - timedelta(days=1), lambda: seconds[0])
    assert clock() == NOW - timedelta(days=1)
    clock.told(NOW)
    seconds[0] = 5.0
    assert clock() == NOW + timedelta(seconds=5)
