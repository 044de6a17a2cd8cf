"""Letters cut in half."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.letters import Letters, mended


def halved(text: str) -> str:
    """The text as a language counts it whose strings are UTF-16."""
    units = text.encode("utf-16-le")
    return "".join(chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2))


@pytest.mark.parametrize(
    ("text", "whole"),
    [("", ""), ("plain", "plain"), ("grüße 👍", "grüße 👍"), ("\ud83d\ude00", "😀"), ("a\ud83d!", "a\ufffd!")],
)
def test_a_text_is_one_that_can_be_sent(text: str, whole: str):
    """OD-4: what can be read stays; half a letter alone is shown as one that cannot."""
    assert mended(text) == whole


@given(st.text(), st.data())
def test_however_it_is_cut(text: str, data: st.DataObject):
    """OD-2: pieces cut between any two units give the text."""
    units = halved(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(units)), max_size=6)))
    letters = Letters()
    pieces = [letters.feed(units[a:b]) for a, b in zip([0, *cuts], [*cuts, len(units)], strict=True)]
    assert "".join(pieces) == text
    assert all(piece == mended(piece) for piece in pieces)
