"""Lines out of bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.agents.lines import Lines, LineTooLong


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xff", b"bcd"])), st.data())
def test_any_chunking(pieces: list[bytes], data: st.DataObject):
    """The lines do not depend on where the bytes were cut, and nothing is lost but the last begun line."""
    stream = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    lines = Lines()
    got: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += lines.feed(stream[start:end])
    assert got == stream.split(b"\n")[:-1]


def test_a_flood_is_given_up():
    """TU-33: what has no end is not kept beyond the limit; what has one may come again and again."""
    lines = Lines(limit=1000)
    for _ in range(100):
        assert lines.feed(b"x" * 900 + b"\n") == [b"x" * 900]
    lines.feed(b"x" * 1000)
    with pytest.raises(LineTooLong):
        lines.feed(b"x")
