"""Verbs of blobs; `blob_keeper.py` uses them to store and read whole files.

Rule 1: a blob can be read once it is complete. Its chunks are committed one by one before that.
Rule 2: a row that names blobs records this in its own transaction (`PartIntent.blobs`, `NameBlobs`). A part of the
        outbox names them until the platform has it (`MarkSent`).
Rule 3: a blob that no row names is removed a day later; one that was never completed, an hour after its last chunk.
"""

from datetime import datetime
from typing import Protocol

from rejoinder.blobs import Blob, Quota, Upload
from rejoinder.store.verbs import Verb


class BeginBlob(Verb[None], frozen=True):
    """Begins a blob, and reserves room for the announced size. Raises `QuotaReached`."""

    id: str
    upload: Upload
    now: datetime


class AddChunk(Verb[None], frozen=True):
    """Adds bytes to an incomplete blob. Raises `QuotaReached`, or `Superseded` if the blob is gone."""

    blob: str
    number: int
    content: bytes
    received: int
    """The number of bytes so far, including these."""
    quota: Quota | None
    now: datetime


class EndBlob(Verb[Blob], frozen=True):
    """Completes a blob. If its key is taken, returns the blob that has the key and removes this one."""

    blob: str
    size: int
    key: str | None


class DropBlob(Verb[None], frozen=True):
    blob: str


class NameBlobs(Verb[None], frozen=True):
    """From now on the row `named_by`, of any kind, names these blobs and no others."""

    named_by: str
    blobs: tuple[str, ...]
    now: datetime


class BlobReader(Protocol):
    """The reads of blobs."""

    async def blob(self, id: str) -> Blob | None: ...

    async def blob_under(self, key: str) -> Blob | None: ...

    async def chunk(self, blob: str, number: int) -> bytes | None:
        """A chunk of a blob; None after the last one."""
        ...
