"""Stores whole files in any store that has the verbs of blobs."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable
from datetime import datetime
from itertools import count
from typing import Protocol, TypeVar

from rejoinder.blobs import Blob, Upload, chunks
from rejoinder.store.blobs import AddChunk, BeginBlob, BlobReader, DropBlob, EndBlob
from rejoinder.store.verbs import Verb

A = TypeVar("A")

AT_ONCE = 2
"""Chunks in one commit, for whose writing messages may have to wait."""


class _Writes(BlobReader, Protocol):
    async def write(self, verb: Verb[A], /) -> A: ...


class StoredBlobs:
    """`new_id`: makes ids that nobody can guess."""

    def __init__(self, store: _Writes, clock: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._adding = asyncio.Semaphore(AT_ONCE)

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
                async with self._adding:
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
