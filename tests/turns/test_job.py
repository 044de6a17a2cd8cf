"""Whether a tick becomes a turn, and what a heartbeat is told (TU-26, TU-27)."""

from datetime import UTC, datetime, timedelta

import pytest

from rejoinder.turns.heartbeat import NOTES, PROMPT, asks_for_nothing, heartbeat_of, prompt_with, was_just_said
from rejoinder.turns.job import OBSTACLES, JobConditions, obstacle

NOW = datetime(2026, 11, 16, tzinfo=UTC)
CASES = [each.case for each in OBSTACLES]


def test_the_table_is_about_all_that_can_be_the_case() -> None:
    """TU-26, TU-27: every case has its reason, each once."""
    assert sorted([*CASES, "by_hand"]) == sorted(JobConditions.__struct_fields__)
    assert obstacle(JobConditions()) is None


@pytest.mark.parametrize("each", OBSTACLES, ids=CASES)
def test_each_is_a_reason(each) -> None:
    """TU-26, TU-27: skipped with a reason; an operator's word goes over those that are only about the time."""
    assert obstacle(JobConditions(**{each.case: True})) == each.reason
    assert obstacle(JobConditions(**{each.case: True}, by_hand=True)) == (each.reason if each.also_by_hand else None)


def test_the_first_that_holds_is_told() -> None:
    """TU-27: in the order of the table."""
    assert obstacle(JobConditions(**dict.fromkeys(CASES, True))) == OBSTACLES[0].reason


@pytest.mark.parametrize(
    ("notes", "nothing"),
    [
        ("", True),
        ("\n  \n\t\n", True),
        ("# Heartbeat\n\n## Tasks\n", True),
        ("#\n", True),
        ("- \n* [ ]\n+ [x]\n  -\n1.\n2) [ ]", True),
        ("- water the plants", False),
        ("- [ ] water the plants", False),
        ("water the plants", False),
        ("#TODO", False),
        ("---", False),
        ("# Heartbeat\n-\nx", False),
        ("\ufeff# Heartbeat", False),
    ],
)
def test_notes_that_ask_for_nothing(notes: str, nothing: bool) -> None:
    """TU-26: only blanks, headings, empty list items; in doubt there is something."""
    assert asks_for_nothing(notes) is nothing


def test_what_it_is_told() -> None:
    """TU-26: who cannot read the file is told what is in it."""
    assert NOTES in PROMPT
    assert "HEARTBEAT_OK" in PROMPT
    assert prompt_with("Look.", None) == "Look."
    assert prompt_with("Look.", " - a\n") == "Look.\n\nHEARTBEAT.md:\n\n- a"
    assert heartbeat_of("helper") == "heartbeat/helper"


@pytest.mark.parametrize(
    ("at", "just"),
    [
        (None, False),
        (NOW, True),
        (NOW - timedelta(hours=23, minutes=59), True),
        (NOW - timedelta(hours=24), False),
    ],
)
def test_what_was_just_said(at: datetime | None, just: bool) -> None:
    """TU-26: within 24 hours."""
    assert was_just_said(at, NOW) is just
