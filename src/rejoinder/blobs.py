"""Files of messages: stored in chunks before the row that refers to them, and removed when no row does (SC-14).

The store keeps them (`store/blobs.py`); edges, which may not know the store, are given a `Blobs`.
"""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Literal, Protocol

from msgspec import Struct

from rejoinder.errors import RejoinderError

CHUNK = 256 << 10
"""Bytes of a chunk. Each chunk has its own commit, so that messages do not wait for a whole file."""


class Blob(Struct, frozen=True):
    """A file that is stored completely."""

    id: str
    """Hard to guess, because everyone who knows it may read the file."""
    name: str
    mime: str
    size: int


class Quota(Struct, frozen=True):
    """The most bytes stored for one owner, and for all owners together."""

    owner: int
    all: int


class QuotaReached(RejoinderError):
    """Do not retry automatically: there is no room for the file. `whose` says which quota is used up: the owner's, or
    that of all together."""

    def __init__(self, whose: Literal["owner", "all"], quota: Quota) -> None:
        most = quota.owner if whose == "owner" else quota.all
        super().__init__(f"the limit of {most >> 20} MB of files {_FOR[whose]} is reached")
        self.whose = whose


_FOR = {"owner": "for one person", "all": "for all people together"}


class Upload(Struct, frozen=True, kw_only=True):
    """What is known about a file before its content arrives."""

    name: str = ""
    mime: str = "application/octet-stream"
    key: str | None = None
    """Storing a file under an existing key returns the file that is there: only the first content is kept."""
    owner: str | None = None
    """The person whose quota it counts against; None: nobody's, as with files of agents."""
    announced: int = 0
    """The expected size in bytes; that much room is reserved."""
    quota: Quota | None = None


class Blobs(Protocol):
    async def keep(self, upload: Upload, content: AsyncIterable[bytes]) -> Blob:
        """Returns when the whole file is durable; at most one chunk is in memory. Raises `QuotaReached`."""
        ...

    async def find(self, id: str) -> Blob | None: ...

    async def find_key(self, key: str) -> Blob | None: ...

    def read(self, id: str) -> AsyncIterator[bytes]:
        """Its chunks, in order."""
        ...


async def chunks(content: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The same bytes, in chunks of one size."""
    waiting = bytearray()
    async for came in content:
        waiting += came
        while len(waiting) >= CHUNK:
            yield bytes(waiting[:CHUNK])
            del waiting[:CHUNK]
    if waiting:
        yield bytes(waiting)


async def whole(content: bytes) -> AsyncIterator[bytes]:
    """Makes content for `keep` from bytes in memory."""
    for start in range(0, len(content), CHUNK):
        yield content[start : start + CHUNK]


async def read_whole(blobs: Blobs, id: str, limit: int) -> bytes | None:
    """The whole file, for a reader that needs it at once; None if it does not exist or has more bytes than `limit`."""
    blob = await blobs.find(id)
    if blob is None or blob.size > limit:
        return None
    return b"".join([chunk async for chunk in blobs.read(id)])
