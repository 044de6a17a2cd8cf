"""Who starts when not everybody can."""

from collections import Counter, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.turns.choose import Ask, Choice, Limits, Load, choose


def talks(*sessions: str) -> tuple[Ask, ...]:
    return tuple(Ask(session) for session in sessions)


@pytest.mark.parametrize(
    ("asks", "load", "limits", "choice"),
    [
        (talks("a", "b"), Load(), Limits(), Choice(("a", "b"))),
        (talks("a", "b"), Load(runs=1), Limits(runs=2), Choice(("a",))),
        (talks("a"), Load(runs=2), Limits(runs=2), Choice()),
        # a process that cannot be had does not hold up who needs none
        ((Ask("a", "p"), Ask("b")), Load(2, busy=("q", "r")), Limits(processes=2), Choice(("b",))),
        # one that is there is shared
        ((Ask("a", "p"), Ask("b", "p")), Load(), Limits(processes=1), Choice(("a", "b"))),
        ((Ask("a", "q"),), Load(2, busy=("q", "r")), Limits(processes=2), Choice(("a",))),
        # the process that has rested longest gives way
        ((Ask("a", "p"),), Load(resting=("x", "y")), Limits(processes=2), Choice(("a",), ("x",))),
        # ... unless somebody wants to run in it
        ((Ask("a", "p"), Ask("b", "x")), Load(resting=("x", "y")), Limits(processes=2), Choice(("a", "b"), ("y",))),
        # no process is ended for a run that finds no place
        ((Ask("a", "p"),), Load(2, resting=("x",)), Limits(runs=2, processes=1), Choice()),
    ],
)
def test_who_starts(asks: tuple[Ask, ...], load: Load, limits: Limits, choice: Choice) -> None:
    """TU-21."""
    assert choose(asks, load, limits) == choice


@given(
    asks=st.lists(
        st.builds(Ask, st.sampled_from("abcdefgh"), st.sampled_from(["p", "q", "r", None])),
        unique_by=lambda a: a.session,
    ),
    resting=st.lists(st.sampled_from("pqxyz"), unique=True),
    busy=st.lists(st.sampled_from("rstu"), unique=True),
    talking=st.integers(0, 3),
    limits=st.builds(Limits, st.integers(1, 5), st.integers(1, 5)),
)
def test_the_limits_hold(asks: list[Ask], resting: list[str], busy: list[str], talking: int, limits: Limits) -> None:
    """TU-21: neither limit is passed by a choice, and whoever can start does."""
    load = Load(len(busy) + talking, tuple(busy), tuple(resting))
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
        choice = choose(tuple(asks), Load(), Limits(runs=2))
        for session in choice.start:
            asks.remove(Ask(session))
            served[session] += 1
            asks.append(Ask(session))
        assert max(served.values()) - min(served[ask.session] for ask in asks) <= 1
