"""A multipart form with files, written piece by piece; its length is known before the first byte."""

from collections.abc import AsyncIterator, Mapping, Sequence
from secrets import token_hex

from rejoinder.channels.base import OutgoingFile


class Form:
    """`fields`: words by name; `files`: each under its name in the form."""

    def __init__(self, fields: Mapping[str, str | bytes], files: Sequence[tuple[str, OutgoingFile]]) -> None:
        boundary = f"rejoinder-{token_hex(16)}"
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self.is_written = False
        """Whether the last byte has been read. Before that, no platform can have accepted the form."""
        self._fields = b"".join(
            _head(boundary, name) + (value.encode() if isinstance(value, str) else value) + b"\r\n"
            for name, value in fields.items()
        )
        self._files = [(_head(boundary, name, file), file) for name, file in files]
        self._end = f"--{boundary}--\r\n".encode()

    @property
    def size(self) -> int:
        files = sum(len(head) + file.size + len(b"\r\n") for head, file in self._files)
        return len(self._fields) + files + len(self._end)

    async def pieces(self) -> AsyncIterator[bytes]:
        yield self._fields
        for head, file in self._files:
            yield head
            async for chunk in file.chunks():
                yield chunk
            yield b"\r\n"
        self.is_written = True
        yield self._end


def _head(boundary: str, name: str, file: OutgoingFile | None = None) -> bytes:
    told = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'
    if file is not None:
        told += f'; filename="{file.name}"\r\nContent-Type: {file.mime}'
    return f"{told}\r\n\r\n".encode()
