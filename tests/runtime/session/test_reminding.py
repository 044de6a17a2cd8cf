"""What an agent is told of a conversation it cannot know any more."""

from datetime import UTC, datetime

import pytest

from rejoinder.agents.base import Exchange
from rejoinder.events import PromptText
from rejoinder.runtime.session.reminding import exchanges
from rejoinder.store.base import TranscriptEntry

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def said(text: str) -> tuple[PromptText, ...]:
    return (PromptText(text),)


def told(*lines: str) -> tuple[TranscriptEntry, ...]:
    """`?` begins a question, `!` an answer, `=` what stands for all before it."""
    roles = {"?": "user", "!": "agent", "=": "user"}
    return tuple(TranscriptEntry(roles[line[0]], said(line[1:]), NOW, stands_for_all=line[0] == "=") for line in lines)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((), ()),
        (("?one", "!first"), (Exchange(said("one"), "first"),)),
        (("?one", "?two", "!both"), (Exchange(said("one") + said("two"), "both"),)),
        (("?one", "!first", "?two"), (Exchange(said("one"), "first"), Exchange(said("two")))),
        (("?one", "!first", "=in short", "!Yes.", "?two"), (Exchange(said("in short"), "Yes."), Exchange(said("two")))),
        (("?one", "=in short"), (Exchange(said("in short")),)),
        (("!the end of it", "?two", "!second"), (Exchange(said("two"), "second"),)),
    ],
)
def test_a_transcript_as_questions_and_answers(lines: tuple[str, ...], found: tuple[Exchange, ...]):
    """TU-23, TU-33: an answer whose question is out of reach is left out, for a model takes none without one."""
    assert exchanges(told(*lines)) == found
