import pytest


@pytest.fixture
def stable_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process need not live for long before it runs what it holds back (DU-2)."""
    monkeypatch.setattr("rejoinder.runtime.session.slots.STABLE_AFTER", 0.01)
