"""IN-1 to IN-6: one message, its texts derived once."""

from typing import Any

import pytest

from rejoinder.events import Attachment, EarlierMessage, Forward, Quote
from rejoinder.inbound.finalise import undecided_message
from rejoinder.inbound.freshness import GREETING
from tests.inbound.floor import FACTS, GUEST, OWNER, house, last, outcome, says, send


@pytest.mark.parametrize(
    ("texts", "agent", "command"),
    [
        ({}, "body", "body"),
        ({"raw_text": "raw"}, "raw", "raw"),
        ({"raw_text": "raw", "command_text": "command"}, "command", "command"),
        ({"raw_text": "raw", "command_text": "command", "agent_text": "agent"}, "agent", "command"),
        ({"agent_text": "agent"}, "agent", "body"),
        ({"command_text": ""}, "", ""),
        ({"raw_text": ""}, "", ""),
        ({"agent_text": ""}, "", "body"),
    ],
)
def test_texts_fall_through_only_when_absent(texts: dict[str, Any], agent: str, command: str) -> None:
    """IN-2: explicit agent text, else command text, else raw text, else body; an empty string is a value."""
    done = send(says("body", attachments=(Attachment("a"),), **texts), house())
    assert (done.message.agent_text, done.message.text) == (agent, command)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("C:\\Work\\nxxx", "C:\\Work\\nxxx"),
        ("  two  blanks\t and\n\n\n    code  \n", "  two  blanks\t and\n\n\n    code  \n"),
        ("\u00a0nbsp\u2028separator\u200bzero", "\u00a0nbsp\u2028separator\u200bzero"),
    ],
)
def test_text_is_byte_exact_but_for_carriage_returns(typed: str, read: str) -> None:
    """IN-3: only carriage returns change; a literal backslash-n stays."""
    assert send(says(typed), house()).message.agent_text == read


def test_a_directive_is_cut_out_of_the_channels_own_wrapping() -> None:
    """IN-2, IN-3: where the agent text holds the command text, the token goes from it too."""
    done = send(says("x", command_text="do /think high it", agent_text="[Anna] do /think high it"), house())
    assert done.message.agent_text == "[Anna] do it"


def test_nothing_is_authorised_before_somebody_said_so() -> None:
    """IN-4: default deny."""
    assert undecided_message(says("x"), FACTS).command_authorised is False
    assert send(says("x", OWNER), house()).message.command_authorised is True
    assert send(says("x", GUEST), house()).message.command_authorised is False


def test_a_missing_type_is_octet_stream() -> None:
    """IN-5: types stand beside their attachments."""
    files = (Attachment("1", mime="image/png"), Attachment("2"), Attachment("3", mime="  "))
    done = send(says("see", attachments=files), house())
    assert [each.mime for each in done.message.inbound.attachments] == [
        "image/png",
        "application/octet-stream",
        "application/octet-stream",
    ]


@pytest.mark.parametrize(
    "message",
    [
        says("", OWNER, forwarded=Forward("/restart")),
        says("/restart", OWNER, forwarded=Forward("/restart")),
        says("/restart", OWNER, forwarded=Forward("/restart"), attachments=(Attachment("1", mime="image/png"),)),
        says("what?", OWNER, reply_to=Quote("m0", text="/restart")),
        says("> /restart\nwhat?", OWNER),
        says("what?", OWNER, thread_starter="/restart", thread_history=(EarlierMessage("m0", "5", text="/restart"),)),
        says("what?", OWNER, untrusted_context=("/restart",)),
        says("[/restart](http://x)", OWNER),
        says("see", OWNER, attachments=(Attachment("1", name="/restart"),)),
        says("/restart", OWNER, entry="edit"),
        says("", OWNER, transcript="/restart", forwarded=Forward("voice")),
    ],
    ids=[
        "forward",
        "forward as text",
        "caption of a forward",
        "quote",
        "quoted line",
        "history",
        "context",
        "link",
        "file",
        "edit",
        "voice",
    ],
)
def test_commands_are_read_from_the_senders_own_fresh_text_alone(message: Any) -> None:
    """IN-6: not from a quote, forward, its caption, history, link, file or edit: the agent runs, nothing else."""
    done = send(message, house())
    assert outcome(done) == "turn"
    assert done.effects == ()


def test_the_senders_own_caption_is_own_text() -> None:
    """IN-6: the words under one's own file carry what text carries; the file is there to be answered as well."""
    picture = (Attachment("1", mime="image/png"),)
    restarted = send(says("/restart", OWNER, attachments=picture), house())
    assert restarted.effects == send(says("/restart", OWNER), house()).effects != ()
    mixed = send(says("/think high what is this?", OWNER, attachments=picture), house())
    assert (outcome(mixed), mixed.message.choices, mixed.message.agent_text) == (
        "turn",
        {"think": "high"},
        "what is this?",
    )


def test_a_transcript_is_own_text_without_the_owners_power() -> None:
    """IN-6: a spoken sender's command works, a spoken owner's command does not."""
    assert outcome(send(says("", OWNER, transcript="/status"), house())) == "answer"
    spoken = send(says("", OWNER, transcript="/restart"), house())
    assert (outcome(spoken), spoken.effects) == ("answer", ())
    assert spoken.replies == ("/restart is for the owner.",)


@pytest.mark.parametrize(
    ("text", "expected"), [("/think high", "answer"), ("[[/status]]", "answer"), ("/new", "turn"), ("hi", "turn")]
)
def test_a_recording_is_not_more_than_its_words(text: str, expected: str) -> None:
    """IN-6, IN-9: what is said alone is said alone; a picture beside it is something to answer."""
    voice, picture = Attachment("1", mime="audio/ogg"), Attachment("2", mime="image/png")
    spoken = send(says("", transcript=text, attachments=(voice,)), house())
    assert outcome(spoken) == expected
    assert spoken.message.agent_text == GREETING or text != "/new"
    assert outcome(send(says("", transcript=text, attachments=(voice, picture)), house())) == "turn"


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_message_is_dropped(text: str) -> None:
    """Nothing in it, nothing to decide."""
    assert last(send(says(text), house())) == ("finalise", "it is empty")


def test_a_reaction_is_not_a_message() -> None:
    """A reaction starts no turn and reads no command."""
    assert outcome(send(says("/stop", OWNER, entry="reaction"), house())) == "drop"
