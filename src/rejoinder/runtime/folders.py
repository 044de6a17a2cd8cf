"""The runtime's view of the folder from which an agent sends files."""

from typing import Protocol


class OpenedFile(Protocol):
    """An open file of the folder: reading continues from the same file, whatever happens to its name."""

    name: str
    """Safe to show: without a path or control characters."""
    mime: str
    size: int
    """When it was opened."""

    def read(self, most: int) -> bytes:
        """The next bytes; empty at the end. Raises `FileRefused` if the file is too large or has changed meanwhile."""
        ...

    def close(self) -> None: ...


class OutboxFolder(Protocol):
    """The one folder from which a session's agent may send files. It raises `FileRefused` if it refuses something."""

    path: str

    def open(self, name: str, limit: int) -> OpenedFile: ...

    def write(self, name: str, text: str, append: bool) -> None: ...

    def remove(self, name: str) -> None: ...
