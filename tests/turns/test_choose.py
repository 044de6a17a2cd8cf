"""Who starts when not everybody can."""

from collections import Counter, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.turns.choose import Selection, SlotLimits, SlotUse, StartRequest, choose


def talks(*sessions: str) -> tuple[StartRequest, ...]:
    return tuple(StartRequest(session) for session in sessions)


@pytest.mark.parametrize(
    ("asks", "load", "limits", "choice"),
    [
        (talks("a", "b"), SlotUse(), SlotLimits(), Selection(("a", "b"))),
        (talks("a", "b"), SlotUse(runs=1), SlotLimits(runs=2), Selection(("a",))),
        (talks("a"), SlotUse(runs=2), SlotLimits(runs=2), Selection()),
        # a process that cannot be had does not hold up who needs none
        (
            (StartRequest("a", "p"), StartRequest("b")),
            SlotUse(2, busy=("q", "r")),
            SlotLimits(processes=2),
            Selection(("b",)),
        ),
        # one that is there is shared
        ((StartRequest("a", "p"), StartRequest("b", "p")), SlotUse(), SlotLimits(processes=1), Selection(("a", "b"))),
        ((StartRequest("a", "q"),), SlotUse(2, busy=("q", "r")), SlotLimits(processes=2), Selection(("a",))),
        # the process that has rested longest gives way
        ((StartRequest("a", "p"),), SlotUse(resting=("x", "y")), SlotLimits(processes=2), Selection(("a",), ("x",))),
        # ... unless somebody wants to run in it
        (
            (StartRequest("a", "p"), StartRequest("b", "x")),
            SlotUse(resting=("x", "y")),
            SlotLimits(processes=2),
            Selection(("a", "b"), ("y",)),
        ),
        # no process is ended for a run that finds no place
        ((StartRequest("a", "p"),), SlotUse(2, resting=("x",)), SlotLimits(runs=2, processes=1), Selection()),
    ],
)
def test_who_starts(asks: tuple[StartRequest, ...], load: SlotUse, limits: SlotLimits, choice: Selection) -> None:
    """TU-21."""
    assert choose(asks, load, limits) == choice


@given(
    asks=st.lists(
        st.builds(StartRequest, st.sampled_from("abcdefgh"), st.sampled_from(["p", "q", "r", None])),
        unique_by=lambda a: a.session,
    ),
    resting=st.lists(st.sampled_from("pqxyz"), unique=True),
    busy=st.lists(st.sampled_from("rstu"), unique=True),
    talking=st.integers(0, 3),
    limits=st.builds(SlotLimits, st.integers(1, 5), st.integers(1, 5)),
)
def test_the_limits_hold(
    asks: list[StartRequest], resting: list[str], busy: list[str], talking: int, limits: SlotLimits
) -> None:
    """TU-21: neither limit is passed by a choice, and whoever can start does."""
    load = SlotUse(len(busy) + talking, tuple(busy), tuple(resting))
    choice = choose(tuple(asks), load, limits)
    started = [ask for ask in asks if ask.session in choice.start]
    alive = {*busy, *resting, *(ask.process for ask in started if ask.process)} - set(choice.retire)
    assert len(started) <= max(0, limits.runs - load.runs)
    assert len(alive) <= max(limits.processes, len(busy) + len(resting))
    assert set(choice.retire) <= set(resting) - {ask.process for ask in asks}
    left = [ask for ask in asks if ask not in started]
    if load.runs + len(started) < limits.runs:
        assert all(ask.process and ask.process not in alive for ask in left)


def test_a_busy_session_does_not_starve_a_quiet_one() -> None:
    """TU-21: of sessions that always have more to run, none is ever two runs ahead of another."""
    asks = deque(talks(*"abcdefg"))
    served: Counter[str] = Counter()
    for _ in range(100):
        choice = choose(tuple(asks), SlotUse(), SlotLimits(runs=2))
        for session in choice.start:
            asks.remove(StartRequest(session))
            served[session] += 1
            asks.append(StartRequest(session))
        assert max(served.values()) - min(served[ask.session] for ask in asks) <= 1
