"""What reaches a terminal can do nothing there but be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.channels.terminal.clean import clean, excerpt

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain, ümlaut, 日本, 👍🏽", "plain, ümlaut, 日本, 👍🏽"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("\x1b[31mred", "␛[31mred"),
        ("\x00\x07\x08\x7f", "␀␇␈␡"),
        ("over\rwrite", "over␍write"),
        ("\x9b31m\x9d", "�31m�"),
        ("\ud800x", "�x"),
        ("a\u202eb\u2066c", "a�b�c"),
        ("a\u2028b\x85c", "a\nb\nc"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
    ],
)
def test_what_could_steer_becomes_a_sign(text, harmless):
    assert clean(text) == harmless


@given(ANY_TEXT)
def test_nothing_harmful_is_left(text):
    """Every character left is printable text, a tab or a newline, and can be encoded."""
    for character in clean(text):
        assert character in "\t\n" or not (ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0)
    clean(text).encode()


@given(ANY_TEXT, st.integers(2, 60))
def test_an_excerpt_is_one_short_line(text, longest):
    line = excerpt(text, longest)
    assert "\n" not in line
    assert len(line) <= longest


def test_an_excerpt_leaves_the_marks_out():
    assert excerpt("# A **bold** `word`\n\n> quoted", 40) == "A bold word quoted"
    assert excerpt("one two three", 8) == "one two…"
