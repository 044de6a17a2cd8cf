"""DU-13: one gateway for one store; who asks whether one runs is in nobody's way."""

import fcntl
import os
from pathlib import Path

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.store.sqlite import lock
from rejoinder.store.sqlite.lock import Lock, holder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "rejoinder.db"


def test_the_holder_is_named_while_it_holds(store: Path) -> None:
    assert holder(store) is None
    held = Lock(store)
    assert holder(store) == f"process {os.getpid()}"
    held.release()
    assert holder(store) is None


def test_a_second_gateway_is_refused_by_name(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "A_LOOK", 0.0)
    held = Lock(store)
    with pytest.raises(StoreUnavailable, match=f"a gateway is running on it: process {os.getpid()}"):
        Lock(store)
    held.release()


def test_a_look_does_not_keep_a_gateway_from_starting(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look holds the lock for a moment; who starts in that moment tries again."""
    Lock(store).release()
    looking = os.open(store.with_name("rejoinder.db.lock"), os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        os.close(looking)

    monkeypatch.setattr(lock.time, "sleep", sleep)
    Lock(store).release()
    assert len(waits) == 1
