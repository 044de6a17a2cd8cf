"""What the gateway can do with sound and links: the contract that `media` implements.

The wiring gives these to the runtime, which knows no endpoint and no program behind them. All of them raise
`NotUnderstood`.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from msgspec import Struct

from rejoinder.events import LinkedPage

VoiceForm = Literal["opus", "mp3"]
"""The format of a voice note: Opus in Ogg, as messengers use it, or one that every browser plays."""


class CanTranscribe(Protocol):
    async def hear(self, name: str, mime: str, content: bytes) -> str:
        """The words in a recording."""
        ...


class CanPrepareRecordings(Protocol):
    async def prepare(self, content: bytes, most: int) -> tuple[str, bytes]:
        """The type and content of a recording in a form that models take: WAV or MP3 if possible, at most `most`
        bytes."""
        ...


class Recording(Struct, frozen=True):
    """Speech that was made from text."""

    content: bytes
    mime: str
    seconds: float | None = None
    waveform: bytes = b""
    """Up to a hundred volume levels from 0 to 255, for players that draw the waveform."""


class CanSpeak(Protocol):
    async def speak(self, text: str, voice: str, form: VoiceForm) -> Recording:
        """`voice`: the name of a voice; empty: the default one."""
        ...

    async def measure(self, content: bytes, mime: str) -> Recording:
        """Speech that was made before, with its duration and waveform as far as they can be found out."""
        ...


class CanReadPages(Protocol):
    async def read(self, address: str) -> LinkedPage:
        """A page as Markdown, with its title."""
        ...


class RemoteFile(Struct, frozen=True):
    """A file at an address; its beginning has been received."""

    name: str
    """Safe to show: without a path or control characters."""
    mime: str
    pieces: AsyncIterator[bytes]
    """The whole content. Raises `FileRefused` if it is larger than allowed."""


class CanLoadFiles(Protocol):
    most: int
    """The most files that are loaded for one answer."""

    def open(self, address: str, limit: int) -> AbstractAsyncContextManager[RemoteFile]:
        """Raises `FileRefused`, also while its pieces are read."""
        ...


DocumentKind = Literal["pdf", "docx", "html", "text", "zip", "tar"]


class DocumentText(Struct, frozen=True):
    """The text read from a document, and a few words on what it is."""

    text: str
    note: str


class CanReadDocuments(Protocol):
    """Reads the files people send. `at_once` is held while a file is fetched and read, so that few are in memory at
    once."""

    max_bytes: int
    max_side: int
    """In pixels: a picture with a longer side has to be scaled."""

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


# --- sentences that both sides of the contract use ---------------------------------------------


def longer_than(seconds: float) -> str:
    minutes = seconds / 60
    return f"it is longer than {minutes:g} minutes" if minutes >= 2 else f"it is longer than {seconds:g} seconds"


def larger_than(size: int) -> str:
    return f"it has more than {size / 1_000_000:g} MB"
