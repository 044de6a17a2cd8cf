"""Files that an agent names by their address (OD-58), loaded under the guard of `guarded_client.py`.

What a file is, its bytes decide; what it is called, its address. A page in place of a file is refused: that is how
servers say that there is no such file.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from mimetypes import guess_extension
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from rejoinder.errors import FileRefused, NotUnderstood
from rejoinder.filetypes import HEAD, in_words, mime_of, safe_name
from rejoinder.media.guarded_client import GuardedClient, Loaded, within
from rejoinder.media.links import content_type
from rejoinder.media.settings import LinkSettings
from rejoinder.media_services import RemoteFile

AT_ONCE = 4
HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity"}
_PAGES = ("text/html", "application/xhtml+xml")
_PAGE_NAMES = (".html", ".htm", ".xhtml")


class RemoteFiles:
    """`most`: how many files of one answer are loaded."""

    def __init__(self, settings: LinkSettings, guarded: GuardedClient | None = None) -> None:
        self.most = settings.most
        self._seconds = settings.timeout_s
        self._guarded = guarded or GuardedClient()
        self._free = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def open(self, address: str, limit: int) -> AsyncGenerator[RemoteFile]:
        try:
            async with within(self._seconds), self._free, self._guarded.load(address, HEADERS) as loaded:
                size = loaded.response.content_length
                if size is not None and size > limit:
                    raise FileRefused(_too_large(address, limit))
                async with aclosing(loaded.pieces(limit)) as pieces:
                    begins = await _beginning(pieces)
                    if not begins:
                        raise NotUnderstood("it is empty")
                    name = _name(loaded, begins)
                    yield RemoteFile(name, mime_of(name, begins[:HEAD]), _all(address, begins, pieces, limit))
        except NotUnderstood as why:
            raise FileRefused(f"{address} cannot be sent: {why}") from None


def _name(loaded: Loaded, begins: bytes) -> str:
    """The end of the address; with an extension that says what the bytes are, if it has none."""
    name = safe_name(unquote(urlsplit(loaded.url).path, errors="replace").rstrip("/") or loaded.host)
    suffix = PurePosixPath(name).suffix.lower()
    kind, _ = content_type(loaded.response.headers.get("Content-Type", ""))
    if kind in _PAGES and suffix not in _PAGE_NAMES:
        raise NotUnderstood("there is a page at this address, not a file")
    return name if suffix else f"{name}{guess_extension(mime_of(name, begins[:HEAD])) or ''}"


async def _beginning(pieces: AsyncIterator[bytes]) -> bytes:
    begins = b""
    while len(begins) < HEAD and (piece := await anext(pieces, b"")):
        begins += piece
    return begins


async def _all(address: str, begins: bytes, pieces: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    received = len(begins)
    yield begins
    async for piece in pieces:
        received += len(piece)
        yield piece
    if received > limit:
        raise FileRefused(_too_large(address, limit))


def _too_large(address: str, limit: int) -> str:
    return f"{address} is larger than the {in_words(limit)} that can be sent"
