"""When a turn that a crash cut off runs again."""

import pytest

from rejoinder.turns.suspicion import MOST_ALONE, VERDICTS, RerunPolicy, next_start, rerun_policy


@pytest.mark.parametrize(
    ("crashes", "alone", "expected"),
    [
        (0, 0, RerunPolicy.AT_ONCE),
        (1, 0, RerunPolicy.AT_ONCE),
        (1, 1, RerunPolicy.AT_ONCE),
        (2, 0, RerunPolicy.IN_LINE),
        (2, 1, RerunPolicy.IN_LINE),
        (4, 1, RerunPolicy.IN_LINE),
        (5, 0, RerunPolicy.FIRST),
        (170, 1, RerunPolicy.FIRST),
        (2, 2, RerunPolicy.WHEN_STABLE),
        (5, 2, RerunPolicy.WHEN_STABLE),
        (170, 2, RerunPolicy.WHEN_STABLE),
        (3, 3, RerunPolicy.NEVER),
        (170, 3, RerunPolicy.NEVER),
    ],
)
def test_by_the_evidence(crashes: int, alone: int, expected: RerunPolicy):
    """DU-2: crashes beside others never condemn; of those alone, the last counts in a stable process only."""
    assert rerun_policy(crashes, alone) is expected


def test_every_verdict_can_be_reached():
    assert {verdict for _, verdict in VERDICTS} == set(RerunPolicy)
    assert all(rerun_policy(least.crashes, least.alone) is verdict for least, verdict in VERDICTS)


def test_crashes_beside_others_are_no_proof():
    """DU-2: however many."""
    assert all(rerun_policy(crashes, MOST_ALONE - 1) is not RerunPolicy.NEVER for crashes in range(1000))


@pytest.mark.parametrize(
    ("alone", "head_start", "others_run", "start"),
    [
        (True, True, False, "alone"),
        (True, True, True, "waits"),
        (True, False, True, "in line"),
        (True, False, False, "in line"),
        (False, True, False, "in line"),
        (False, True, True, "in line"),
        (False, False, True, "in line"),
    ],
)
def test_how_the_next_suspect_starts(alone: bool, head_start: bool, others_run: bool, start: str):
    """DU-2: alone as long as everything else waits for it; then beside the others, which may never cease."""
    assert next_start(alone=alone, head_start=head_start, others_run=others_run) == start
