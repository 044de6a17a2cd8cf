"""SC-21: how often a message waits for PostgreSQL, counted at the connection."""

from pathlib import Path

import pytest

from bench.trips import MOST, RoundTrip, in_sequence, measure, middle
from tests.postgres import Server, a_database


async def test_a_message_takes_at_most_six_round_trips_in_sequence(tmp_path: Path, postgres: Server) -> None:
    """SC-21: from the platform's update to the turn closed, on a gateway that has met the chat before; the four steps
    that are committed take one round trip each."""
    usual = middle(await measure(tmp_path, a_database(postgres, "four_shards"), warm=3, measured=7))
    carried = [trip.carried for trip in usual]
    assert len(usual) <= MOST, carried
    commits = [each for each in carried if "COMMIT" in each]
    assert [each[0] for each in commits] == ["BEGIN"] * 4


def trip(began: int, ended: int | None) -> RoundTrip:
    made = RoundTrip(began, [])
    made.ended = ended
    return made


@pytest.mark.parametrize(
    ("made", "longest"),
    [
        ([], 0),
        ([(1, 2), (3, 4), (5, 6)], 3),
        ([(1, 4), (2, 3)], 1),
        ([(1, 6), (2, 3), (4, 5)], 2),
        ([(1, 2), (3, None)], 1),
    ],
)
def test_what_is_under_way_at_the_same_time_is_one_wait(made: list[tuple[int, int | None]], longest: int) -> None:
    """The longest row counts; what has not ended yet nobody has waited for."""
    assert len(in_sequence([trip(*each) for each in made])) == longest
