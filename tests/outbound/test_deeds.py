"""What is to be done, as bytes."""

from rejoinder.events import Part, Route
from rejoinder.outbound.deeds import Say, decode, encode, words


def test_a_row_is_written_whatever_a_name_holds():
    """DE-30: what cannot be written as it is, is written as nearly as it can be."""
    assert words(decode(encode(Say(Part(Route("web", "1"), "hello \ud83d"))))) == "hello ?"
