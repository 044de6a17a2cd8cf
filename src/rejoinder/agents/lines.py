"""Cuts a byte stream into lines, in linear time, and with a limit on their length."""

LINE_LIMIT = 8 << 20
"""A line is decoded in one go while everything else waits; a line of this size takes some 20 ms."""


class LineTooLong(ValueError):
    """More bytes came without the end of a line than we are willing to keep."""


class Lines:
    """Cuts bytes into lines; linear, and bounded by `limit`."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._begun: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for piece in ended:
            lines.append(b"".join((*self._begun, piece)))
            self._begun.clear()
            self._size = 0
        self._begun.append(rest)
        self._size += len(rest)
        if self._size > self._limit:
            raise LineTooLong(f"a line longer than {self._limit >> 20} MB")
        return lines
