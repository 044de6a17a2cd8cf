"""Files that messages name: bytes in chunks, kept before the row that names them, removed when no row does (SC-14).

The store keeps them (`store/blobs.py`); edges that may not know the store are given a `Blobs`.
"""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Literal, Protocol

from msgspec import Struct

from rejoinder.errors import RejoinderError

CHUNK = 256 << 10
"""Bytes of a chunk: each is committed by itself, so that messages do not wait for a whole file."""


class Blob(Struct, frozen=True):
    """A file that is whole."""

    id: str
    """Hard to guess: who knows it may read the file."""
    name: str
    mime: str
    size: int


class Quota(Struct, frozen=True):
    """Bytes that are kept for one owner, and for all owners together."""

    owner: int
    all: int


class QuotaReached(RejoinderError):
    """Never retry by itself: there is no room for the file. `whose`: the owner's own share is used up, or that of all
    together."""

    def __init__(self, whose: Literal["owner", "all"], quota: Quota) -> None:
        most = quota.owner if whose == "owner" else quota.all
        super().__init__(f"the limit of {most >> 20} MB of files {_FOR[whose]} is reached")
        self.whose = whose


_FOR = {"owner": "for one person", "all": "for all people together"}


class Upload(Struct, frozen=True, kw_only=True):
    """What is known of a file before its bytes."""

    name: str = ""
    mime: str = "application/octet-stream"
    key: str | None = None
    """Whoever stores a file under a key that is taken gets the file that is there: only the first content is kept."""
    owner: str | None = None
    """Whose quota it counts against; None: nobody's, as with files of agents."""
    announced: int = 0
    """Bytes that are to come; room is kept for as many."""
    quota: Quota | None = None


class Blobs(Protocol):
    async def keep(self, upload: Upload, content: AsyncIterable[bytes]) -> Blob:
        """Returns when all of it is durable; no more than a chunk of it is in memory. Raises `QuotaReached`."""
        ...

    async def find(self, id: str) -> Blob | None: ...

    async def find_key(self, key: str) -> Blob | None: ...

    def read(self, id: str) -> AsyncIterator[bytes]:
        """Its chunks, in order."""
        ...


async def chunks(content: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in chunks of one size, however they come."""
    waiting = bytearray()
    async for came in content:
        waiting += came
        while len(waiting) >= CHUNK:
            yield bytes(waiting[:CHUNK])
            del waiting[:CHUNK]
    if waiting:
        yield bytes(waiting)


async def whole(content: bytes) -> AsyncIterator[bytes]:
    """Bytes that are in memory already, as content to keep."""
    for start in range(0, len(content), CHUNK):
        yield content[start : start + CHUNK]


async def read_whole(blobs: Blobs, id: str, limit: int) -> bytes | None:
    """All of it, for a reader that needs it at once; None if it is not there, or has more bytes than this."""
    blob = await blobs.find(id)
    if blob is None or blob.size > limit:
        return None
    return b"".join([chunk async for chunk in blobs.read(id)])
