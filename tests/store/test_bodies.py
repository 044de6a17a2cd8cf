"""What is read of an outbox row."""

import pytest

from rejoinder.store.bodies import text_of


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"type":"say","part":{"route":{"channel":"web","chat":"1"},"text":"Hello."}}', "Hello."),
        (b'{"type":"edit","message":"17","part":{"text":"Hello again."}}', "Hello again."),
        (b'{"type":"say","part":{"text":"","files":[{"name":"chart.png"}]}}', "chart.png"),
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
