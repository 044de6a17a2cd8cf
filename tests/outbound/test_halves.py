"""Characters cut in two."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.events import Part, Route
from rejoinder.outbound.deeds import Say, decode, encode, words
from rejoinder.outbound.halves import Halves


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (("a \ud83d", "\ude00 b"), "a 😀 b"),
        (("\ud83d", "", "\ude00"), "😀"),
        (("a \ud83d b",), "a \ufffd b"),
        (("a \ude00",), "a \ufffd"),
        (("a \ud83d",), "a "),
        (("\ud83d", "\ud83d", "\ude00"), "\ufffd😀"),
    ],
)
def test_halves_are_joined(pieces, shown):
    """DE-4: what an agent streams in UTF-16 units is whole; half of a character alone is a sign for it."""
    halves = Halves()
    assert "".join(map(halves.join, pieces)) == shown


@given(st.text(), st.lists(st.integers(0, 40)))
def test_wherever_it_is_cut(text, cuts):
    """DE-1: any text cut between any two units is the text."""
    units = text.encode("utf-16-le")
    places = sorted({0, len(units), *(2 * cut for cut in cuts if 2 * cut < len(units))})
    halves = Halves()
    pieces = [units[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(places)]
    assert "".join(map(halves.join, pieces)) == text


def test_a_row_is_written_whatever_a_name_holds():
    """DE-30: what cannot be written as it is, is written as nearly as it can be."""
    assert words(decode(encode(Say(Part(Route("web", "1"), "hello \ud83d"))))) == "hello ?"
