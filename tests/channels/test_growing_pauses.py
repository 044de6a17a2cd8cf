from hypothesis import given
from hypothesis import strategies as st

from rejoinder.channels.growing_pauses import pause_after


@given(st.integers(1, 10_000))
def test_pauses_grow_up_to_the_longest(failures: int):
    """DE-32: each is at most twice as long as the one before, none is longer than the longest, and after any number of
    failures there is one."""
    bound = min(60.0, 2.0 ** min(failures - 1, 10))
    assert bound / 2 <= pause_after(failures, 1.0, 60.0) <= bound


def test_not_all_bots_come_back_at_once():
    """DE-32: those that failed together are spread over half of the pause."""
    assert len({pause_after(5, 1.0, 60.0) for _ in range(20)}) > 1
