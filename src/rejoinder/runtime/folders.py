"""What the runtime has to know of the folder from which an agent sends files."""

from typing import Protocol

from rejoinder.events import Attachment


class OutboxFolder(Protocol):
    """The one folder from which a session's agent may send files. It raises `FileRefused` for what it will not do."""

    path: str

    def read(self, name: str, limit: int) -> Attachment: ...

    def write(self, name: str, text: str, append: bool) -> None: ...

    def remove(self, name: str) -> None: ...
