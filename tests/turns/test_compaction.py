"""When a conversation is shortened without being asked."""

import pytest

from rejoinder.turns.compaction import SHORTENED, Fullness, Plan, after_compaction, plan

FULL = Fullness(1000, 1000)


@pytest.mark.parametrize(
    ("fullness", "can_compact", "flushes", "todo"),
    [
        (FULL, True, True, Plan(flush=True, compact=True)),
        (FULL, True, False, Plan(compact=True)),
        (FULL, False, True, Plan()),
        (Fullness(999, 1000), True, True, Plan()),
        # nobody set a budget, or nobody knows how full it is
        (Fullness(1000, 0), True, True, Plan()),
        (Fullness(0, 1000), True, True, Plan()),
        # it had its turn, and the shortening has to be tried again
        (Fullness(1000, 1000, flushed=True), True, True, Plan(compact=True)),
    ],
)
def test_what_a_full_context_leads_to(fullness: Fullness, can_compact: bool, flushes: bool, todo: Plan) -> None:
    """TU-23, TU-29."""
    assert plan(fullness, can_compact=can_compact, flushes=flushes) == todo


def test_the_notes_come_with_the_news() -> None:
    """TU-29: the agent's start-up notes, where there are any."""
    assert after_compaction(" Be kind. ") == f"{SHORTENED}\n\nBe kind."
    assert after_compaction("") == SHORTENED
