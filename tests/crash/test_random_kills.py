"""A slice of the random kills; `make crash` runs many more."""

import pytest

from tests.crash.random_kills import LONGEST_LIFE, random_kills


@pytest.mark.parametrize("on_unknown", ["hold", pytest.param("resend", marks=pytest.mark.deep)])
async def test_nothing_innocent_is_quarantined_and_no_draft_is_left(on_unknown):
    """DU-2, DU-22: killed again and again while many talk, all is answered; nobody is suspected enough to be
    quarantined, and no bare sign or half an answer stays."""
    killed = await random_kills(kills=4, messages=16, seed=1, on_unknown=on_unknown, stable_after=2 * LONGEST_LIFE)
    assert (killed.quarantined, killed.wrong) == ([], []), killed.log[-6000:]


async def test_a_long_turn_that_is_alone_is_not_quarantined():
    """DU-2: no process lives for as long as an answer takes, and nothing else is under way when it dies; still that is
    no proof."""
    how = {"people": ("ann",), "all_long": True, "stable_after": 2 * LONGEST_LIFE}
    killed = await random_kills(kills=5, messages=1, seed=4, **how)
    assert (killed.quarantined, killed.wrong) == ([], []), killed.log[-6000:]
