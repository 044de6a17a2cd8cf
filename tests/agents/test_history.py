"""The conversation a model is told of."""

from hypothesis import given
from hypothesis import strategies as st

from rejoinder.agents.base import MOST_REMEMBERED_SESSIONS, Exchange
from rejoinder.agents.history import Histories, tokens_of
from rejoinder.events import PromptImage, PromptText


def asked(text: str) -> tuple[PromptText]:
    return (PromptText(text),)


def test_what_was_said_is_told():
    histories = Histories(1000)
    histories.remember("s", asked("one"), "first")
    histories.remember("s", asked("two"), "second")
    assert histories.before("s", asked("three")) == (
        Exchange(asked("one"), "first"),
        Exchange(asked("two"), "second"),
    )
    assert histories.before("other", asked("three")) == ()


def test_what_is_recalled_takes_the_place_of_what_was_known():
    histories = Histories(1000)
    histories.remember("s", asked("one"), "first")
    histories.recall("s", (Exchange(asked("two"), "second"),))
    assert histories.before("s", asked("three")) == (Exchange(asked("two"), "second"),)


ANSWERS = st.text(min_size=1, max_size=60).filter(str.strip)


@given(st.lists(st.tuples(st.text(max_size=60), ANSWERS), max_size=20), st.integers(0, 200))
def test_never_over_budget_and_the_newest_stay(said: list[tuple[str, str]], budget: int):
    """What is told fits the budget, is an end of the conversation, and no longer end would fit."""
    histories = Histories(budget)
    for question, answer in said:
        histories.remember("s", asked(question), answer)
    told = histories.before("s", asked("now"))
    room = budget - tokens_of(Exchange(asked("now")))
    assert sum(map(tokens_of, told)) <= max(room, 0)
    if told:
        whole = [Exchange(asked(question), answer) for question, answer in said]
        assert told == tuple(whole[-len(told) :])


def test_a_question_without_answer_stays_but_is_not_told_twice():
    """TU-22: the same turn tried on another model finds the past as the first one did."""
    histories = Histories(1000)
    histories.remember("s", asked("why?"), "")
    assert histories.before("s", asked("why?")) == ()
    assert histories.before("s", asked("try again")) == (Exchange(asked("why?")),)
    histories.remember("s", asked("why?"), "because")
    assert histories.before("s", asked("why?")) == (Exchange(asked("why?"), "because"),)


def test_forgetting():
    histories = Histories(1000)
    histories.remember("s", asked("one"), "first")
    histories.forget("s")
    histories.forget("never seen")
    assert histories.before("s", asked("two")) == ()


def test_sessions_that_slept_longest_go_first():
    histories = Histories(1000)
    for number in range(MOST_REMEMBERED_SESSIONS + 1):
        histories.remember(str(number), asked("x"), "y")
        histories.remember("awake", asked(str(number)), "y")
    assert histories.before("0", asked("x")) == ()
    assert histories.before("awake", asked("x")) != ()


def test_pictures_have_a_price():
    assert tokens_of(Exchange((PromptImage("image/png", b"x" * 9_000_000),))) < 5000
