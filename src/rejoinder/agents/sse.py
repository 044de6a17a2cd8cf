"""Reads server-sent events from bytes cut anywhere.

Rule 1: fed in any chunking, the events are the same.
Rule 2: linear. No byte is scanned twice, however small the chunks are.
Rule 3: bounded. An event larger than `limit` ends the reading with EventTooLong.
"""

from msgspec import Struct

from rejoinder.agents.lines import LINE_LIMIT

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CARRIAGE_RETURN = 0x0D  # as a number, because searching for `bytes` in `bytes` takes six times as long


class ServerEvent(Struct, frozen=True):
    """One event: its name (`message` when the server gave none) and its data lines, joined."""

    event: str
    data: str


class EventTooLong(ValueError):
    """The server sent more data without the end of an event than we are willing to keep."""


class ServerEventReader:
    """`feed(bytes)` gives the events that became complete; an incomplete one at the end is dropped."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._line: list[bytes] = []
        self._line_size = 0
        self._after_cr = False
        self._first = True
        self._event = ""
        self._data: list[str] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        if not chunk:
            return []
        if self._after_cr:
            # The \n of a \r\n that was cut in two does not end another line.
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk[-1:] == b"\r"
        lines = _lines(chunk)
        rest = lines.pop()
        events: list[ServerEvent] = []
        if lines:
            if self._line:
                lines[0] = b"".join((*self._line, lines[0]))
                self._line.clear()
                self._line_size = 0
            if self._first:
                self._first = False
                lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        event, data, size = self._event, self._data, self._data_size
        for line in lines:
            if not line:
                if data:
                    events.append(ServerEvent(event or "message", "\n".join(data)))
                    data.clear()
                    size = 0
                event = ""
                continue
            name, _, value = line.partition(b":")
            if name == b"data":
                data.append(_text(value))
                size += len(line)
            elif name == b"event":
                event = _text(value)
            # Everything else (comments, id, retry) has no meaning for a single response.
        self._event, self._data_size = event, size
        if rest:
            self._line.append(rest)
            self._line_size += len(rest)
        if self._line_size + self._data_size > self._limit:
            raise EventTooLong(f"one server-sent event is larger than {self._limit} bytes")
        return events


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace").removeprefix(" ")


def _lines(chunk: bytes) -> list[bytes]:
    """Lines end with \\n, \\r\\n or \\r and with nothing else, unlike bytes.splitlines on text."""
    if _CARRIAGE_RETURN in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return chunk.split(b"\n")
