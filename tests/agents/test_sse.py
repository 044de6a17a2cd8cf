"""Reading server-sent events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.agents.sse import EventTooLong, ServerEvent, ServerEventReader

A, B = ServerEvent("message", "a"), ServerEvent("message", "b")
CASES = {
    "one event": (b"data: a\n\n", [ServerEvent("message", "a")]),
    "a named event": (b"event: ping\ndata: {}\n\n", [ServerEvent("ping", "{}")]),
    "several data lines": (b"data: a\ndata:b\ndata\n\n", [ServerEvent("message", "a\nb\n")]),
    "windows line ends": (b"data: a\r\n\r\ndata: b\r\n\r\n", [A, B]),
    "old mac line ends": (b"data: a\r\rdata: b\r\r", [A, B]),
    "mixed line ends": (b"data: a\r\ndata: b\n\r\ndata: c\r\n\n", [
        ServerEvent("message", "a\nb"), ServerEvent("message", "c")
    ]),
    "comments and unneeded fields": (b": hi\n\nid: 7\nretry: 1\ndata: a\n\n", [A]),
    "an event without data is none": (b"event: x\n\ndata: a\n\n", [ServerEvent("message", "a")]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [ServerEvent("message", "a")]),
    "letters of several bytes": ("data: grüße 👍\n\n".encode(), [ServerEvent("message", "grüße 👍")]),
    "line separators of unicode are text": ("data: a\u2028b\x85c\x0bd\n\n".encode(), [
        ServerEvent("message", "a\u2028b\x85c\x0bd")
    ]),
    "an unfinished event never counts": (b"data: a\n\ndata: b\n", [ServerEvent("message", "a")]),
    "bytes that are no text": (b"data: \xff\n\n", [ServerEvent("message", "\ufffd")]),
}  # fmt: skip


def read(*chunks: bytes) -> list[ServerEvent]:
    reader = ServerEventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)]


@pytest.mark.parametrize(("stream", "events"), CASES.values(), ids=CASES.keys())
def test_every_chunking_reads_the_same(stream: bytes, events: list[ServerEvent]):
    """TU-32: whole, byte by byte and cut at every place, a stream gives the same events."""
    assert read(stream) == events
    assert read(*(stream[i : i + 1] for i in range(len(stream)))) == events
    for cut in range(len(stream) + 1):
        assert read(stream[:cut], b"", stream[cut:]) == events


@given(st.lists(st.sampled_from([b"data: x", b"\n", b"\r", b"\r\n", b"event: e", b":", b" "])), st.data())
def test_any_chunking_of_anything(pieces: list[bytes], data: st.DataObject):
    """However strange the stream and however it is cut, the events do not depend on the cut."""
    stream = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert read(*chunks) == read(stream)


def test_an_event_without_end_is_given_up():
    """A server that never ends an event cannot fill the memory, with one long line or with many lines."""
    for endless in (b"x" * 100, b"data: " + b"y" * 90 + b"\n"):
        reader = ServerEventReader(limit=1000)
        for _ in range(9):
            reader.feed(endless)
        with pytest.raises(EventTooLong):
            reader.feed(endless * 2)


def test_pings_do_not_add_up():
    """A stream that is kept alive by comments for hours is not too long."""
    reader = ServerEventReader(limit=100)
    for _ in range(1000):
        assert reader.feed(b": keep-alive\n\n") == []
