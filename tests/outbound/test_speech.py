"""What is read out of an answer."""

import pytest

from rejoinder.outbound.speech import granted_with, is_spoken, shortened, shortening_prompt, speakable


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Hello **there**, _you_.", "Hello there, you."),
        ("# Result\n\nIt works", "Result.\nIt works."),
        ("- one\n- two\n", "one.\ntwo."),
        ("Run this:\n\n```sh\nrm -rf /\n```\n\nDone!", "Run this:\nDone!"),
        ("Use `grep` or `a=1; b` here.", "Use grep or here."),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nSo it is.", "So it is."),
        ("See [the page](https://example.org/x) or https://example.org/y now.", "See the page or now."),
        ("![a cat](cat.png)\n\nA cat.", "A cat."),
        ("> quoted\n\nanswer", "quoted.\nanswer."),
        ("```\nonly code\n```", ""),
        ("---\n***\n👍", ""),
        ("1. first\n2. second", "first.\nsecond."),
        ("two  \nlines\nof one", "two lines of one."),
        ("<id> is text & stays", "<id> is text & stays."),
    ],
)
def test_what_is_read_is_the_clean_text(written, read):
    """ME-2: no Markdown signs, code, tables or addresses."""
    assert speakable(written) == read


@pytest.mark.parametrize(
    ("text", "most", "read"),
    [
        ("One. Two. Three.", 100, "One. Two. Three."),
        ("One. Two. Three.", 10, "One. Two."),
        ("One! Two? Three", 9, "One! Two?"),
        ("Version 1.5 is out. More follows here.", 25, "Version 1.5 is out."),
        ("no sentence ends here at all", 15, "no sentence."),
        ("x" * 50, 10, "x" * 9 + "."),
        ("第一句。第二句。", 5, "第一句。"),
    ],
)
def test_what_is_too_long_ends_at_a_sentence(text, most, read):
    """ME-2."""
    assert shortened(text, most) == read


@pytest.mark.parametrize(
    ("mode", "plain", "marked", "by_voice"),
    [
        ("off", False, False, False),
        ("always", True, True, True),
        ("inbound", False, True, True),
        ("tagged", False, True, False),
    ],
)
def test_which_answers_are_spoken(mode, plain, marked, by_voice):
    """ME-2: what the agent marks is spoken wherever speech is on."""
    assert is_spoken(mode, by_voice=False, marked=False) is plain
    assert is_spoken(mode, by_voice=False, marked=True) is marked
    assert is_spoken(mode, by_voice=True, marked=False) is by_voice


def test_any_text_takes_linear_time():
    assert speakable("*" * 200_000) is not None
    assert speakable("> " * 100_000) is not None
    assert len(shortened("a. " * 100_000, 1500)) <= 1500


@pytest.mark.parametrize("mode", ["off", "always", "inbound", "tagged"])
def test_where_answers_may_be_spoken_the_agent_may_speak(mode):
    """OD-52."""
    assert granted_with(mode, frozenset(["react"])) == ({"react"} if mode == "off" else {"react", "voice"})


def test_what_the_agent_is_asked_holds_the_text_as_it_is():
    """Marks of a format in the text are words."""
    assert shortening_prompt("{most} {0}", 40).endswith("\n\n{most} {0}")
    assert "at most 40 characters" in shortening_prompt("x", 40)
