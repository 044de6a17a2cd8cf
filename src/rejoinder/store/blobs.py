"""Verbs of blobs, and `StoredBlobs`, which keeps and reads whole files with them in any store.

Rule 1: a blob can be read once it is whole. Its chunks are committed one by one before that.
Rule 2: a row that names blobs says so in the same transaction (`Intent.blobs`, `NameBlobs`).
Rule 3: what no row names, or no longer, is removed a day later; what was never finished, an hour after its last chunk.
"""

from collections.abc import AsyncIterable, AsyncIterator, Callable
from datetime import datetime
from itertools import count
from typing import Protocol, TypeVar

from rejoinder.blobs import Blob, Quota, Upload, chunks
from rejoinder.store.verbs import Verb

A = TypeVar("A")


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


class _Writes(BlobReader, Protocol):
    async def write(self, verb: Verb[A], /) -> A: ...


class StoredBlobs:
    """`new_id`: makes ids that nobody can guess."""

    def __init__(self, store: _Writes, clock: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    async def keep(self, upload: Upload, content: AsyncIterable[bytes]) -> Blob:
        if upload.key is not None and (kept := await self.find_key(upload.key)) is not None:
            return kept
        id, received = self._new_id(), 0
        await self._store.write(BeginBlob(id, upload, self._clock()))
        try:
            numbers = count()
            async for chunk in chunks(content):
                received += len(chunk)
                add = AddChunk(id, next(numbers), chunk, received, upload.quota, self._clock())
                await self._store.write(add)
            return await self._store.write(EndBlob(id, received, upload.key))
        except BaseException:
            await self._store.write(DropBlob(id))
            raise

    async def find(self, id: str) -> Blob | None:
        return await self._store.blob(id)

    async def find_key(self, key: str) -> Blob | None:
        return await self._store.blob_under(key)

    async def read(self, id: str) -> AsyncIterator[bytes]:
        for number in count():
            chunk = await self._store.chunk(id, number)
            if chunk is None:
                return
            yield chunk
