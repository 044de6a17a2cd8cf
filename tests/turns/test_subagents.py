"""Who may start a sub-agent, and what it is called."""

import pytest

from rejoinder.turns.subagents import (
    MOST_AT_ONCE,
    MOST_DEPTH,
    MOST_UNASKED,
    SpawnRequest,
    SpawnState,
    limit_reached,
    name_for,
    refusal,
)

MAY = ("helper", "reader")


@pytest.mark.parametrize(
    ("wish", "family", "why"),
    [
        (SpawnRequest("helper", "read"), SpawnState(MAY), None),
        (SpawnRequest("helper", "read"), SpawnState(MAY, depth=MOST_DEPTH - 1, at_work=MOST_AT_ONCE - 1), None),
        (SpawnRequest("coder", "read"), SpawnState(MAY), "may not be started here; there are: helper, reader"),
        (SpawnRequest("coder", "read"), SpawnState(()), "there are: none"),
        (SpawnRequest("helper", "  "), SpawnState(MAY), "needs a task"),
        (SpawnRequest("helper", "read"), SpawnState(MAY, depth=MOST_DEPTH), "nested at most 2 deep"),
        (SpawnRequest("helper", "read"), SpawnState(MAY, at_work=MOST_AT_ONCE), "8 sub-agents are already at work"),
        (SpawnRequest("helper", "read"), SpawnState(MAY, unasked=MOST_UNASKED), "since somebody last wrote"),
        (SpawnRequest("helper", "read", "a b"), SpawnState(MAY), "A name has"),
        (SpawnRequest("helper", "read", "x" * 41), SpawnState(MAY), "A name has"),
        (SpawnRequest("helper", "read", "all"), SpawnState(MAY), "is a word of /subagents"),
        (
            SpawnRequest("helper", "read", "Eve"),
            SpawnState(MAY, names=frozenset({"eve"})),
            "already a sub-agent called Eve",
        ),
    ],
)
def test_who_may(wish: SpawnRequest, family: SpawnState, why: str | None):
    """TU-36: listed agents, depth 2, 8 at once; each refusal says why."""
    said = refusal(wish, family)
    assert said is None if why is None else said is not None and why in said


def test_limits_are_of_everybody():
    """TU-36: a bad name is nobody's limit, a full house is."""
    assert limit_reached(SpawnState(MAY, depth=9)) is None
    assert limit_reached(SpawnState(MAY, at_work=8)) is not None


def test_names():
    """TU-36: its own, or the agent's with the first free number."""
    assert name_for(SpawnRequest("helper", "x", "eve"), ()) == "eve"
    assert name_for(SpawnRequest("helper", "x"), ()) == "helper-1"
    assert name_for(SpawnRequest("Helper", "x"), ("helper-1", "helper-2")) == "Helper-3"
