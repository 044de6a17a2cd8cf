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
        ((Ask("a", True), Ask("b")), Load(processes=2), Limits(processes=2), Choice(("b",))),
        # the process that has rested longest gives way
        ((Ask("a", True),), Load(0, 2, ("x", "y")), Limits(processes=2), Choice(("a",), ("x",))),
        # ... unless its own session wants to run
        ((Ask("a", True), Ask("x")), Load(0, 2, ("x", "y")), Limits(processes=2), Choice(("a", "x"), ("y",))),
        # no process is ended for a run that finds no place
        ((Ask("a", True),), Load(2, 2, ("x",)), Limits(runs=2, processes=2), Choice()),
    ],
)
def test_who_starts(asks: tuple[Ask, ...], load: Load, limits: Limits, choice: Choice) -> None:
    """TU-21."""
    assert choose(asks, load, limits) == choice


@given(
    asks=st.lists(st.builds(Ask, st.sampled_from("abcdefgh"), st.booleans()), unique_by=lambda a: a.session),
    runs=st.integers(0, 5),
    resting=st.lists(st.sampled_from("abcxyz"), unique=True),
    busy=st.integers(0, 3),
    limits=st.builds(Limits, st.integers(1, 5), st.integers(1, 5)),
)
def test_the_limits_hold(asks: list[Ask], runs: int, resting: list[str], busy: int, limits: Limits) -> None:
    """TU-21: neither limit is passed by a choice, and whoever can start does."""
    load = Load(runs, len(resting) + busy, tuple(resting))
    choice = choose(tuple(asks), load, limits)
    spawned = sum(ask.spawns for ask in asks if ask.session in choice.start)
    processes = load.processes + spawned - len(choice.retire)
    assert len(choice.start) <= max(0, limits.runs - runs)
    assert processes <= max(limits.processes, load.processes)
    assert len(choice.start) == len(asks) or runs + len(choice.start) >= limits.runs or processes >= limits.processes


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
