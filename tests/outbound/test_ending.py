"""How an answer ends."""

from itertools import product

import pytest

from rejoinder.outbound.ending import ending_of, silence_is_noted

EITHER = (False, True)


@pytest.mark.parametrize(
    ("silent", "has_words", "repeats", "acted", "waited_for", "ending"),
    [
        *((True, *rest, "silence") for rest in product(EITHER, repeat=4)),
        *((False, True, False, *rest, "words") for rest in product(EITHER, repeat=2)),
        *((False, True, True, *rest, "repetition") for rest in product(EITHER, repeat=2)),
        *((False, False, repeats, False, True, "no response") for repeats in EITHER),
        *((False, False, repeats, True, True, "actions") for repeats in EITHER),
        *((False, False, repeats, acted, False, "actions") for repeats, acted in product(EITHER, repeat=2)),
    ],
)
def test_how_an_answer_ends(silent, has_words, repeats, acted, waited_for, ending):
    """OD-41, OD-44, OD-45: silence comes first, words before what was done, and only who waits is told of nothing."""
    assert ending_of(silent=silent, has_words=has_words, repeats=repeats, acted=acted, waited_for=waited_for) == ending


@pytest.mark.parametrize(
    ("heartbeat", "waited_for", "among_agents", "noted"),
    [
        (False, True, False, True),
        (False, True, True, True),
        (False, False, False, True),
        (False, False, True, False),
        *((True, *rest, False) for rest in product(EITHER, repeat=2)),
    ],
)
def test_who_hears_of_a_silence(heartbeat, waited_for, among_agents, noted):
    """OD-41: the operator, unless it is normal."""
    assert silence_is_noted(heartbeat=heartbeat, waited_for=waited_for, among_agents=among_agents) is noted
