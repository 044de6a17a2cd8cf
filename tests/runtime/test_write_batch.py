"""What is written together, and what waits while nothing can be kept."""

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime import write_batch
from rejoinder.runtime.write_batch import until_available
from rejoinder.store.rows import Health


class Ill:
    def __init__(self, *found: str | None) -> None:
        self.found = iter(found)

    async def health(self) -> Health:
        return Health(next(self.found))


async def test_who_waits_for_a_full_disk_ends_with_the_store(monkeypatch):
    """DU-15: that the disk is full has been said; that somebody who waited for it ends is no further fault of it."""
    monkeypatch.setattr(write_batch, "PAUSE", 0)
    full = StoreUnavailable("full", "a.db")
    await until_available(Ill("full", None), full)
    with pytest.raises(StoreUnavailable) as ended:
        await until_available(Ill("full", "closed"), full)
    assert ended.value.fault == "closed"
    assert str(ended.value) == "The store a.db is unavailable. It has been closed."
