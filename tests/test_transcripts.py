"""A transcript as people read it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.events import PromptText
from rejoinder.inbound.freshness import GREETING
from rejoinder.rendering.fence import fenced
from rejoinder.rendering.markdown import parse_blocks
from rejoinder.session import Session
from rejoinder.store.base import TranscriptEntry
from rejoinder.transcripts import NEW_SESSION, SILENT, Transcript, as_markdown, latest

NOW = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
SESSION = Session("s", "helper", NOW, NOW)


def said(*texts: str) -> Transcript:
    return Transcript(SESSION, tuple(TranscriptEntry("agent", (PromptText(text),), NOW) for text in texts))


def test_it_is_the_chat_as_people_had_it():
    """Without the blocks that a model is told; under the name of who wrote, made harmless."""
    who = '{"schema":"rejoinder.sender.v1","display_name":"Anna\\u001b[31m"}'
    block = f"<sender_context-a1b2>\n{who}\n</sender_context-a1b2>"
    asked = TranscriptEntry("user", (PromptText(block), PromptText("Is it raining?")), NOW)
    page = as_markdown(Transcript(SESSION, (asked,)))
    assert page.endswith("## Anna [31m, 2024-01-02 03:04:05 UTC\n\nIs it raining?\n")


def test_nobody_is_said_to_have_written_the_gateways_prompt():
    """What an agent is told after a bare `/new` is the gateway's; the person wrote only the command."""
    asked = TranscriptEntry("user", (PromptText(GREETING),), NOW)
    assert as_markdown(Transcript(SESSION, (asked,))).endswith(f"UTC\n\n{NEW_SESSION}\n")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It rains.", "It rains."),
        ("[[reply_to:m1]]\nIt rains.", "It rains."),
        ('Done.\n<react emoji="eyes" />', "Done."),
        ('<actions>\n<send-message chat="bob">Only for Bob.</send-message>\n</actions>\nTold him.', "Told him."),
        ("NO_REPLY", SILENT),
        ("<no-reply/>", SILENT),
    ],
)
def test_of_an_answer_only_what_was_seen_is_shown(written, shown):
    """OD-1: no directive is ever shown, here neither; nor what was said in another chat."""
    assert as_markdown(said(written)).endswith(f"UTC\n\n{shown}\n")


def test_the_end_of_it_is_whole_entries():
    transcript = said("one", "two", "x" * 100)
    assert latest(transcript, 10_000)[1] == 3
    words, count = latest(transcript, 200)
    assert count == 2
    assert "two" in words
    assert "one" not in words
    cut, count = latest(transcript, 50)
    assert (count, len(cut)) == (1, 51)
    assert cut.startswith("…x")
    assert latest(said(), 50) == ("\n", 0)


@given(st.text("`~ab\n", max_size=60))
def test_nothing_ends_a_block_of_code_from_within(text):
    shown = fenced(text)
    (fence,) = parse_blocks(shown)
    assert fence.type == "fence"
    assert fence.content == text.rstrip() + "\n" or not text.strip()
