"""What the runtime has to know of the folder from which an agent sends files."""

from typing import Protocol


class OpenedFile(Protocol):
    """One file of the folder, open: whatever happens to its name, this is the file that is read."""

    name: str
    """Safe to show: no path, no control character."""
    mime: str
    size: int
    """When it was opened."""

    def read(self, most: int) -> bytes:
        """The next bytes; none at the end. Raises `FileRefused` if it is too large or has changed meanwhile."""
        ...

    def close(self) -> None: ...


class OutboxFolder(Protocol):
    """The one folder from which a session's agent may send files. It raises `FileRefused` for what it will not do."""

    path: str

    def open(self, name: str, limit: int) -> OpenedFile: ...

    def write(self, name: str, text: str, append: bool) -> None: ...

    def remove(self, name: str) -> None: ...
