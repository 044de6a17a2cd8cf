"""How long a run may hold its lane."""

import pytest

from rejoinder.turns.run_timeout import Expired, LookAgain, RunTimeouts, RunTimes, examine

SETTINGS = RunTimeouts(idle_timeout_s=10, hard_timeout_s=100)


@pytest.mark.parametrize(
    ("seen", "now", "verdict"),
    [
        (0, 0, LookAgain(10)),
        (0, 9.9, LookAgain(10)),
        (0, 10, Expired("idle")),
        (9, 10, LookAgain(19)),
        (95, 96, LookAgain(100)),
        (99, 100, Expired("hard")),
        (0, 100, Expired("hard")),
    ],
)
def test_a_lease_runs_out(seen: float, now: float, verdict: LookAgain | Expired) -> None:
    """TU-20: idle and hard timeout are separate; signs of life move only the first."""
    assert examine(RunTimes(1, 0, seen), SETTINGS, now) == verdict
