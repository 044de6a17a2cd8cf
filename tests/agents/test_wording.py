"""The conversation in the words of a model's API."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.agents.base import Exchange
from rejoinder.agents.history import Histories
from rejoinder.agents.wording import AlternatingMessages
from rejoinder.events import PromptPart, PromptText

PARTS = tuple[PromptPart, ...]


def content(parts: PARTS) -> list[str]:
    return [part.text for part in parts if isinstance(part, PromptText)]


def read(messages: list[msgspec.Raw]) -> list[tuple[str, Any]]:
    return [(said["role"], said["content"]) for said in map(msgspec.json.decode, messages)]


def asked(*texts: str) -> PARTS:
    return tuple(PromptText(text) for text in texts)


def test_a_question_without_answer_joins_the_next():
    """TU-33: roles alternate, and nothing that was asked is left out."""
    past = (Exchange(asked("one"), "first"), Exchange(asked("two")), Exchange(asked("three"), "third"))
    assert read(AlternatingMessages().messages(past, asked("now"), content)) == [
        ("user", ["one"]),
        ("assistant", "first"),
        ("user", ["two", "three"]),
        ("assistant", "third"),
        ("user", ["now"]),
    ]


ANSWERS = st.sampled_from(["", "", "yes", "no"])


@given(st.lists(st.tuples(st.sampled_from("abc"), ANSWERS), max_size=30), st.integers(1, 30))
def test_what_is_kept_is_what_would_be_encoded_again(said: list[tuple[str, str]], budget: int):
    """However the past has grown and been shortened, the messages are those of this past."""
    histories = Histories(budget)
    for question, answer in said:
        past = histories.before("s", asked(question))
        kept = histories.messages("s", past, asked(question), content)
        assert read(kept) == read(AlternatingMessages().messages(past, asked(question), content))
        histories.remember("s", asked(question), answer)


def test_what_was_said_is_encoded_once():
    """A long conversation costs a turn no more than a short one."""
    encoded: list[PARTS] = []

    def counted(parts: PARTS) -> list[str]:
        encoded.append(parts)
        return content(parts)

    histories = Histories(40)
    for number in range(100):
        parts = asked(f"question {number}")
        histories.messages("s", histories.before("s", parts), parts, counted)
        histories.remember("s", parts, "answer")
    assert len(encoded) == 101  # the first one again: until it is answered, nothing is kept of the conversation
