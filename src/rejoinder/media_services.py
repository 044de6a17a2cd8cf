"""What the gateway can do with sound and with links: the contract of what `media` does.

The runtime is given these by the wiring and knows no endpoint and no program behind them. Each raises `NotUnderstood`.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from msgspec import Struct

from rejoinder.events import LinkedPage

VoiceForm = Literal["opus", "mp3"]
"""What a voice note is made of: Opus in Ogg, as messengers have it, or what every browser plays."""


class CanTranscribe(Protocol):
    async def hear(self, name: str, mime: str, content: bytes) -> str:
        """The words in a recording."""
        ...


class CanPrepareRecordings(Protocol):
    async def prepare(self, content: bytes, most: int) -> tuple[str, bytes]:
        """The type and content of a recording that models take: WAV or MP3 where it can be had, at most `most`
        bytes."""
        ...


class Recording(Struct, frozen=True):
    """Speech that was made from text."""

    content: bytes
    mime: str
    seconds: float | None = None
    waveform: bytes = b""
    """Up to a hundred levels from 0 to 255, for players that draw them."""


class CanSpeak(Protocol):
    async def speak(self, text: str, voice: str, form: VoiceForm) -> Recording:
        """`voice`: the name of one; empty: the usual one."""
        ...

    async def measure(self, content: bytes, mime: str) -> Recording:
        """Speech that was made before, with how long it is and how it looks, as far as that can be found out."""
        ...


class CanReadPages(Protocol):
    async def read(self, address: str) -> LinkedPage:
        """A page as Markdown, with its title."""
        ...


class RemoteFile(Struct, frozen=True):
    """A file at an address, of which the beginning has come."""

    name: str
    """Safe to show: no path, no control character."""
    mime: str
    pieces: AsyncIterator[bytes]
    """All of it. Raises `FileRefused` when there is more than was allowed."""


class CanLoadFiles(Protocol):
    most: int
    """How many files of one answer are loaded."""

    def open(self, address: str, limit: int) -> AbstractAsyncContextManager[RemoteFile]:
        """Raises `FileRefused`, also while its pieces are read."""
        ...


DocumentKind = Literal["pdf", "docx", "html", "text", "zip", "tar"]


class DocumentText(Struct, frozen=True):
    """What was read in a document, and a few words on what that is."""

    text: str
    note: str


class CanReadDocuments(Protocol):
    """Reads what people send. `at_once` is held while a file is fetched and read: few of them are in memory."""

    max_bytes: int
    max_side: int
    """Pixels: a picture with a longer side is to be scaled."""

    @property
    def at_once(self) -> AbstractAsyncContextManager[None]: ...

    async def read(self, kind: DocumentKind, name: str, content: bytes) -> DocumentText: ...

    async def scale(self, name: str, content: bytes) -> tuple[str, bytes]:
        """The type and the content of a smaller picture."""
        ...


class CanDescribePictures(Protocol):
    async def describe(self, content: bytes, mime: str) -> str:
        """A picture in words, for an agent that cannot see it."""
        ...


# --- sentences that both sides of the contract say ---------------------------------------------


def longer_than(seconds: float) -> str:
    minutes = seconds / 60
    return f"it is longer than {minutes:g} minutes" if minutes >= 2 else f"it is longer than {seconds:g} seconds"


def larger_than(size: int) -> str:
    return f"it has more than {size / 1_000_000:g} MB"
