"""Which of several processes starts again after `/restart`, and when (SC-25)."""

from datetime import UTC, datetime, timedelta

import pytest

from rejoinder.turns.restarts import RESTART_TURN, RestartRequest, RestartTurn, is_free, is_obeyed, is_over, turn_of

NOON = datetime(2030, 1, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("request_", "obeyed", "expected"),
    [
        (None, (), False),
        (RestartRequest(NOON + SECOND, "c"), (), True),
        (RestartRequest(NOON, "c"), (), False),
        (RestartRequest(NOON - SECOND, "c"), (), False),
        (RestartRequest(NOON + SECOND, "c"), ("b", "c"), False),
        (RestartRequest(NOON + SECOND, "d"), ("b", "c"), True),
    ],
    ids=["none", "later", "at its start", "began since", "the clock of the store went back", "another one"],
)
def test_who_starts_again(request_: RestartRequest | None, obeyed: tuple[str, ...], expected: bool) -> None:
    """SC-25: who began before the command was accepted, and was not started by it."""
    assert is_obeyed(request_, NOON, obeyed) is expected


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (None, True),
        (RestartTurn("one", NOON + SECOND), False),
        (RestartTurn("one", NOON), True),
        (RestartTurn("one", NOON - SECOND), True),
    ],
)
def test_a_turn_ends_when_its_process_is_gone_for_long(turn: RestartTurn | None, expected: bool) -> None:
    """SC-25: a process that does not come back does not stop the others."""
    assert is_free(turn, NOON) is expected


@pytest.mark.parametrize(
    ("turn", "returned", "expected"),
    [
        (None, "one", False),
        (None, "", False),
        (RestartTurn("one", NOON), "one", True),
        (RestartTurn("one", NOON), "", False),
    ],
)
def test_a_turn_ends_when_its_process_is_back(turn: RestartTurn | None, returned: str, expected: bool) -> None:
    """SC-25: only the turn of the process that has come back, not that of another."""
    assert is_over(turn, returned) is expected


def test_a_turn_is_long_enough_for_an_end_and_a_start() -> None:
    """SC-25: nobody takes it meanwhile."""
    turn = turn_of("one", NOON)
    assert turn.by == "one"
    assert not is_free(turn, NOON + RESTART_TURN - SECOND)
    assert is_free(turn, NOON + RESTART_TURN)
