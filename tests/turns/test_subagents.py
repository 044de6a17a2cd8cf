"""Who may start a sub-agent, and what it is called."""

import pytest

from rejoinder.turns.subagents import (
    MOST_AT_ONCE,
    MOST_DEPTH,
    MOST_UNASKED,
    Family,
    Wish,
    limit_reached,
    name_for,
    refusal,
)

MAY = ("helper", "reader")


@pytest.mark.parametrize(
    ("wish", "family", "why"),
    [
        (Wish("helper", "read"), Family(MAY), None),
        (Wish("helper", "read"), Family(MAY, depth=MOST_DEPTH - 1, at_work=MOST_AT_ONCE - 1), None),
        (Wish("coder", "read"), Family(MAY), "may not be started here; there are: helper, reader"),
        (Wish("coder", "read"), Family(()), "there are: none"),
        (Wish("helper", "  "), Family(MAY), "needs a task"),
        (Wish("helper", "read"), Family(MAY, depth=MOST_DEPTH), "no deeper than 2"),
        (Wish("helper", "read"), Family(MAY, at_work=MOST_AT_ONCE), "8 sub-agents are at work"),
        (Wish("helper", "read"), Family(MAY, unasked=MOST_UNASKED), "since somebody last wrote"),
        (Wish("helper", "read", "a b"), Family(MAY), "A name has"),
        (Wish("helper", "read", "x" * 41), Family(MAY), "A name has"),
        (Wish("helper", "read", "all"), Family(MAY), "is a word of /subagents"),
        (Wish("helper", "read", "Eve"), Family(MAY, names=frozenset({"eve"})), "called Eve already"),
    ],
)
def test_who_may(wish: Wish, family: Family, why: str | None):
    """TU-36: listed agents, depth 2, 8 at once; each refusal says why."""
    said = refusal(wish, family)
    assert said is None if why is None else said is not None and why in said


def test_limits_are_of_everybody():
    """TU-36: a bad name is nobody's limit, a full house is."""
    assert limit_reached(Family(MAY, depth=9)) is None
    assert limit_reached(Family(MAY, at_work=8)) is not None


def test_names():
    """TU-36: its own, or the agent's with the first free number."""
    assert name_for(Wish("helper", "x", "eve"), ()) == "eve"
    assert name_for(Wish("helper", "x"), ()) == "helper-1"
    assert name_for(Wish("Helper", "x"), ("helper-1", "helper-2")) == "Helper-3"
