"""What follows when a model fails."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.agents.base import FailureKind
from rejoinder.turns.fallback import (
    BACK_OFF,
    ON_FAILURE,
    Candidate,
    Cooldown,
    Cooldowns,
    FallbackState,
    NoFallback,
    after_failure,
    begin,
    transition_notice,
    with_cooldown,
    without_cooldown,
)

BIG, SMALL, OTHER = Candidate("big", "work"), Candidate("small", "work"), Candidate("other", "home")
ALL = (BIG, SMALL, OTHER)


def fails(
    trial: FallbackState, kind: str, cooldowns: Cooldowns | None = None, now: float = 0
) -> tuple[FallbackState | NoFallback, Cooldowns]:
    cooldowns = with_cooldown(cooldowns or {}, trial, kind, now)
    return after_failure(trial, kind, cooldowns, now), cooldowns


def test_every_failure_an_agent_can_name_has_a_treatment() -> None:
    """TU-22: the table is total over the kinds of the agents' contract; an abort is none of them."""
    assert set(ON_FAILURE) == {*get_args(FailureKind), "aborted"}


@pytest.mark.parametrize("kind", ["billing", "rate_limit", "auth", "timeout", "format", "model_not_found"])
def test_classified_failures_go_on_with_the_next_model(kind: str) -> None:
    """TU-22."""
    following, _ = fails(begin((BIG, OTHER), {}, 0), kind)
    assert isinstance(following, FallbackState)
    assert following.current == OTHER


@pytest.mark.parametrize("kind", ["overloaded"])
def test_a_hiccup_is_tried_once_more_before_the_next_model(kind: str) -> None:
    """TU-22: transient, one retry; and a first hiccup brings no cool-down. Silence for minutes is no hiccup."""
    again, cooldowns = fails(begin((BIG, OTHER), {}, 0), kind)
    assert isinstance(again, FallbackState)
    assert (again.current, cooldowns) == (BIG, {})
    following, cooldowns = fails(again, kind)
    assert isinstance(following, FallbackState)
    assert following.current == OTHER
    assert cooldowns == {"work": Cooldown(1, 60)}


@pytest.mark.parametrize(("wait", "tries"), [(None, 1), (0.0, 2), (5.0, 2), (5.1, 1)])
def test_who_says_when_to_come_back_is_tried_once_more_when_it_is_the_last(wait: float | None, tries: int) -> None:
    """TU-22: a wait of a few seconds is better than no answer; with another model there is no wait."""
    trial: FallbackState | NoFallback = begin((BIG,), {}, 0)
    for _ in range(tries):
        assert isinstance(trial, FallbackState)
        trial = after_failure(trial, "rate_limit", {}, 0, retry_after=wait)
    assert trial == NoFallback("rate_limit")
    following = after_failure(begin((BIG, OTHER), {}, 0), "rate_limit", {}, 0, retry_after=wait)
    assert isinstance(following, FallbackState)
    assert (following.current, following.wait) == (OTHER, 0)


@pytest.mark.parametrize(("asked", "least"), [(None, BACK_OFF), (0.0, BACK_OFF), (3.0, 3.0)])
@pytest.mark.parametrize("kind", ["overloaded", "unreachable", "rate_limit"])
def test_no_second_try_comes_at_once(kind: str, asked: float | None, least: float) -> None:
    """DE-32: back-off with jitter, at least as long as the provider asks for."""
    if (kind, asked) == ("rate_limit", None):
        return  # an account that asks too often is not asked again without being told to
    waits = [
        after_failure(begin((BIG,), {}, 0), kind, {}, 0, retry_after=asked, chance=chance) for chance in (0.0, 0.5, 1.0)
    ]
    assert [getattr(trial, "wait", None) for trial in waits] == [least, least + BACK_OFF / 2, least + BACK_OFF]


@pytest.mark.parametrize("kind", ["aborted", "context_overflow", "crashed", "other", "never heard of"])
def test_what_another_model_cannot_mend_is_given_up(kind: str) -> None:
    """TU-22: abort and context overflow are not retried on another model."""
    assert fails(begin(ALL, {}, 0), kind) == (NoFallback(kind), {})


def test_an_unreachable_endpoint_is_tried_twice_and_no_more() -> None:
    """TU-22."""
    again, _ = fails(begin(ALL, {}, 0), "unreachable")
    assert isinstance(again, FallbackState)
    assert fails(again, "unreachable")[0] == NoFallback("unreachable")


def test_cool_downs_grow_and_are_forgotten_after_a_success() -> None:
    """TU-22: 1, 5, 25, 60 minutes and no more, per credential."""
    cooldowns: Cooldowns = {}
    minutes: list[float] = []
    for _ in range(5):
        cooldowns = with_cooldown(cooldowns, begin((BIG,), {}, 0), "rate_limit", now=1000)
        minutes.append((cooldowns["work"].until - 1000) / 60)
    assert minutes == [1, 5, 25, 60, 60]
    assert without_cooldown(cooldowns, "work") == {}
    assert without_cooldown(cooldowns, "home") == cooldowns


@pytest.mark.parametrize(("asked", "rest"), [(None, 60), (10, 60), (600, 600)])
def test_a_cool_down_is_as_long_as_the_provider_wants_it_at_least(asked: float | None, rest: float) -> None:
    """TU-22: asked again sooner, it would only refuse again."""
    cooldowns = with_cooldown({}, begin((BIG,), {}, 0), "billing", 1000, retry_after=asked)
    assert cooldowns["work"].until == 1000 + rest


def test_a_resting_credential_is_passed_over_until_its_rest_is_over() -> None:
    """TU-22: every model of that credential is."""
    cooldowns = {"work": Cooldown(1, 60)}
    assert begin(ALL, cooldowns, 59).current == OTHER
    assert begin(ALL, cooldowns, 60).current == BIG


def test_when_all_rest_the_one_that_is_ready_first_is_tried() -> None:
    """TU-22: with one model there is no other; a person waits, and the provider can say no itself."""
    assert begin((BIG,), {"work": Cooldown(4, 3600)}, 0).current == BIG
    assert begin((BIG, OTHER), {"work": Cooldown(2, 300), "home": Cooldown(1, 60)}, 0).current == OTHER


@given(
    kinds=st.lists(st.sampled_from(sorted(ON_FAILURE)), min_size=1, max_size=30),
    candidates=st.lists(st.sampled_from(ALL), min_size=1, unique=True),
)
def test_a_turn_ends(kinds: list[str], candidates: list[Candidate]) -> None:
    """TU-22: whatever fails, no model is asked more than twice, and none after it was left."""
    trial: FallbackState | NoFallback = begin(tuple(candidates), {}, 0)
    cooldowns: Cooldowns = {}
    asked: list[Candidate] = []
    for kind in kinds * 10:
        assert isinstance(trial, FallbackState)
        asked.append(trial.current)
        trial, cooldowns = fails(trial, kind, cooldowns)
        if isinstance(trial, NoFallback):
            break
    assert isinstance(trial, NoFallback)
    assert all(asked.count(candidate) <= 2 for candidate in asked)
    assert asked == sorted(asked, key=asked.index), "came back to a model that was left"


def test_each_transition_is_told_once() -> None:
    """TU-22: when it begins, and when the selected model answers again."""
    fallen = FallbackState(ALL, OTHER, (BIG,))
    told = transition_notice(None, fallen, "rate_limit")
    assert told == "Model fallback: other answers instead of big: the account made too many requests."
    assert transition_notice("other", fallen, "rate_limit") is None
    assert transition_notice("other", FallbackState(ALL, BIG), None) == (
        "Model fallback ended: big answers again (was other)."
    )
    assert transition_notice(None, FallbackState(ALL, BIG), None) is None
