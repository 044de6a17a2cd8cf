"""How long a run may hold its lane."""

import pytest

from rejoinder.turns.lease import Expired, Held, Lease, LeaseSettings, examine

SETTINGS = LeaseSettings(idle_timeout_s=10, hard_timeout_s=100)


@pytest.mark.parametrize(
    ("seen", "now", "verdict"),
    [
        (0, 0, Held(10)),
        (0, 9.9, Held(10)),
        (0, 10, Expired("idle")),
        (9, 10, Held(19)),
        (95, 96, Held(100)),
        (99, 100, Expired("hard")),
        (0, 100, Expired("hard")),
    ],
)
def test_a_lease_runs_out(seen: float, now: float, verdict: Held | Expired) -> None:
    """TU-20: idle and hard timeout are separate; signs of life move only the first."""
    assert examine(Lease(1, 0, seen), SETTINGS, now) == verdict
