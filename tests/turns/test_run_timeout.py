"""How long a run may hold its lane."""

import pytest

from rejoinder.turns.run_timeout import Expired, NextCheck, RunTimeouts, RunTimes, examine

SETTINGS = RunTimeouts(idle_timeout_s=10, hard_timeout_s=100)


@pytest.mark.parametrize(
    ("seen", "now", "verdict"),
    [
        (0, 0, NextCheck(10)),
        (0, 9.9, NextCheck(10)),
        (0, 10, Expired("idle")),
        (9, 10, NextCheck(19)),
        (95, 96, NextCheck(100)),
        (99, 100, Expired("hard")),
        (0, 100, Expired("hard")),
    ],
)
def test_a_lease_runs_out(seen: float, now: float, verdict: NextCheck | Expired) -> None:
    """TU-20: idle and hard timeout are separate; signs of life move only the first."""
    assert examine(RunTimes(1, 0, seen), SETTINGS, now) == verdict
