"""Verbs of blobs; `blob_keeper.py` keeps and reads whole files with them.

Rule 1: a blob can be read once it is whole. Its chunks are committed one by one before that.
Rule 2: a row that names blobs says so in the same transaction (`Intent.blobs`, `NameBlobs`). A part of the outbox names
        them until the platform has it (`MarkSent`).
Rule 3: what no row names, or no longer, is removed a day later; what was never finished, an hour after its last chunk.
"""

from datetime import datetime
from typing import Protocol

from rejoinder.blobs import Blob, Quota, Upload
from rejoinder.store.verbs import Verb


class BeginBlob(Verb[None], frozen=True):
    """Room is kept for the bytes that are announced. Raises `QuotaReached`."""

    id: str
    upload: Upload
    now: datetime


class AddChunk(Verb[None], frozen=True):
    """The next bytes of a blob that is not whole. Raises `QuotaReached`, or `Superseded` when it is gone."""

    blob: str
    number: int
    content: bytes
    received: int
    """Bytes so far, with these."""
    quota: Quota | None
    now: datetime


class EndBlob(Verb[Blob], frozen=True):
    """All of it is there. Under a key that is taken, the blob that has it is returned, and this one removed."""

    blob: str
    size: int
    key: str | None


class DropBlob(Verb[None], frozen=True):
    blob: str


class NameBlobs(Verb[None], frozen=True):
    """A row of whatever kind, `named_by`, names these blobs from now on, and no others."""

    named_by: str
    blobs: tuple[str, ...]
    now: datetime


class BlobReader(Protocol):
    """What a store answers about blobs."""

    async def blob(self, id: str) -> Blob | None: ...

    async def blob_under(self, key: str) -> Blob | None: ...

    async def chunk(self, blob: str, number: int) -> bytes | None:
        """None: that was the last one."""
        ...
