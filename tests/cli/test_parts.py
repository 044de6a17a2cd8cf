"""What an operator reads of an outbox row."""

import pytest

from rejoinder.cli.parts import text_of, where
from rejoinder.events import Route


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"type":"say","part":{"route":{"channel":"web","chat":"1"},"text":"Hello."}}', "Hello."),
        (b'{"type":"edit","message":"17","part":{"text":"Hello again."}}', "Hello again."),
        (b'{"type":"react","message":"17","emoji":"\xf0\x9f\x91\x8d"}', "👍 to 17"),
        (b'{"type":"delete","message":"17"}', "17"),
        (b"part 1", "part 1"),
        (b"[1, 2]", "[1, 2]"),
        (b"\xff", "�"),
    ],
)
def test_what_people_would_see(body, text):
    """A body that is not understood is shown as it was written."""
    assert text_of(body) == text


@pytest.mark.parametrize(
    ("route", "said"),
    [
        (Route("telegram", "1"), "telegram 1"),
        (Route("telegram", "1", "7"), "telegram 1 thread 7"),
        (Route("telegram", "1", None, "second"), "telegram/second 1"),
    ],
)
def test_where(route, said):
    assert where(route) == said
