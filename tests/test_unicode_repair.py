"""Letters cut in half."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.events import Quote
from rejoinder.unicode_repair import StreamRepair, as_json, from_json, repair_text

QUOTE = msgspec.json.Decoder(Quote)


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
    assert repair_text(text) == whole


@given(st.text(), st.data())
def test_however_it_is_cut(text: str, data: st.DataObject):
    """OD-2: pieces cut between any two units give the text."""
    units = halved(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(units)), max_size=6)))
    letters = StreamRepair()
    pieces = [letters.feed(units[a:b]) for a, b in zip([0, *cuts], [*cuts, len(units)], strict=True)]
    assert "".join(pieces) == text
    assert all(piece == repair_text(piece) for piece in pieces)


@given(st.text(st.characters()) | st.text(st.characters(categories=["Cs"])))
def test_whatever_is_in_a_text_it_can_be_written(text: str):
    """DE-30, DU-1: what comes back is the text, repaired."""
    assert from_json(as_json(Quote("m1", text=text)), QUOTE) == Quote("m1", text=repair_text(text))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'{"message_id": "m1", "text": "\ud83d\ude00"}', "😀"),
        (r'{"message_id": "m1", "text": "a\ud83d!"}', "a\ud83d!"),
    ],
)
def test_halves_that_are_written_as_escapes_are_read(written: str, read: str):
    """OD-4: what was said is not lost for the way in which it was written."""
    assert from_json(written, QUOTE).text == read


@pytest.mark.parametrize(
    ("written", "problem"),
    [("{", msgspec.DecodeError), ('{"message_id": 1}', msgspec.ValidationError), ("null", msgspec.ValidationError)],
)
def test_what_is_wrong_is_still_wrong(written: str, problem: type[Exception]):
    with pytest.raises(problem):
        from_json(written, QUOTE)
