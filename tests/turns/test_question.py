"""Questions in words, and answers to them."""

import pytest

from rejoinder.events import Option, Question
from rejoinder.turns.question import MOST_BUTTONS, buttons, chosen_option, how_to_answer

PERMISSION = Question("1", "May I?")
OPTIONS = Question("2", "Which?", ("red", Option("b-17", "Blue"), Option("no", "None of them", "no")))


@pytest.mark.parametrize(
    ("said", "id"),
    [
        ("1", "red"),
        ("red", "red"),
        ("2", "b-17"),
        ("b-17", "b-17"),
        ("blue", "b-17"),
        ("none of them", "no"),
        ("4", None),
    ],
)
def test_an_option_is_meant_by_its_number_its_id_or_its_label(said: str, id: str | None) -> None:
    """TU-34."""
    found = chosen_option(OPTIONS, said)
    assert (None if found is None else found.id) == id


def test_every_option_has_a_button_up_to_what_platforms_take() -> None:
    """TU-34: a request for permission has two, and one option gets a no beside it."""
    assert [each.label for each in buttons(PERMISSION, "q1")] == ["Allow once", "Deny"]
    assert [each.says for each in buttons(OPTIONS, "q1")] == ["/approve q1 1", "/approve q1 2", "/approve q1 3"]
    assert [each.label for each in buttons(Question("3", "?", ("go",)), "q1")] == ["go", "Deny"]
    assert len(buttons(Question("4", "?", tuple(f"{n}" for n in range(50))), "q1")) == MOST_BUTTONS


def test_without_buttons_the_last_paragraph_says_how() -> None:
    """TU-34."""
    assert how_to_answer(PERMISSION, "q1").startswith("Answer yes or no.")
    listed, how = how_to_answer(OPTIONS, "q1").split("\n\n")
    assert listed.splitlines() == ["1. red", "2. Blue", "3. None of them"]
    assert how.startswith("Answer with the number, yes or no.")
