"""The files an agent sends: stored as soon as they are named, sent with their neighbours (DE-37, ME-10).

Rule 1: a file is stored before the part that names it is planned, so that the content sent under a key never changes
        (DU-4).
Rule 2: files named one after the other, with no text between them, share a message if the platform has room for
        several; a file with a caption of its own begins a new message.
Rule 3: the same request in a turn sends the file once, even if the agent is asked again after a restart and groups its
        files differently.
"""

import asyncio
from collections.abc import AsyncIterator
from hashlib import blake2b
from mimetypes import guess_extension

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.blobs import CHUNK, Blob, Blobs, Upload, whole
from rejoinder.channels.base import FileLimits
from rejoinder.errors import FileRefused
from rejoinder.events import Attachment, FileKind, Route
from rejoinder.filetypes import HEAD, in_words, kind_of, mime_of, safe_name
from rejoinder.media_services import CanLoadFiles
from rejoinder.outbound import plan
from rejoinder.outbound.directives.effects import SendFile
from rejoinder.outbound.operations import Say, decode
from rejoinder.outbound.plan import AnswerWording, PlannedOperation
from rejoinder.rendering import RenderOptions
from rejoinder.runtime.folders import OpenedFile, OutboxFolder
from rejoinder.store.base import StoreReader

_encode = msgspec.json.Encoder(order="sorted").encode


def file_key(stem: str, request: SendFile) -> str:
    """Made from the request, not from the file's content: a request repeated after a restart sends once (DU-2)."""
    return f"{stem}/file/{_digest(_encode(request))}"


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=9).hexdigest()


async def keep(key: str, path: str, folder: OutboxFolder, blobs: Blobs, most: int) -> Blob:
    """Stores the file and returns it. A file stored earlier is not read again: the agent may have removed it."""
    if (kept := await blobs.find_key(key)) is not None:
        return kept
    opened = await asyncio.to_thread(folder.open, path, most)
    try:
        upload = Upload(name=opened.name, mime=opened.mime, key=key, announced=opened.size)
        return await blobs.keep(upload, _pieces(opened))
    finally:
        await asyncio.to_thread(opened.close)


async def keep_remote(key: str, address: str, loads: CanLoadFiles, blobs: Blobs, most: int) -> Blob:
    """The same for a file at an address. A file stored earlier is not loaded again."""
    if (kept := await blobs.find_key(key)) is not None:
        return kept
    async with loads.open(address, most) as file:
        return await blobs.keep(Upload(name=file.name, mime=file.mime, key=key), file.pieces)


async def keep_content(key: str, name: str, content: bytes, blobs: Blobs, most: int) -> Blob:
    """The same for a file whose content the agent gave itself."""
    if len(content) > most:
        raise FileRefused(f"{name!r} is larger than the {in_words(most)} that can be sent")
    mime = mime_of(name, content[:HEAD])
    shown = safe_name(name) if name else f"file{guess_extension(mime) or ''}"
    return await blobs.keep(Upload(name=shown, mime=mime, key=key), whole(content))


async def _pieces(opened: OpenedFile) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(opened.read, CHUNK):
        yield piece


def attached(blob: Blob, asked: str | None, limits: FileLimits) -> Attachment:
    """The file as a part names it. `asked`: the kind that the agent requested."""
    kind = limits.kind_for(kind_of(blob.mime, asked), blob.size)
    return Attachment(blob.id, blob.name, blob.mime, blob.size, kind=kind)


class StoredFile(Struct, frozen=True):
    """A file that is stored and has to be sent."""

    what: str
    """The agent's request, in words."""
    key: str
    file: Attachment
    caption: str


class FileGroup(Struct, frozen=True):
    """Files that share one message in one place."""

    route: Route
    limits: FileLimits
    options: RenderOptions
    wording: AnswerWording
    files: tuple[StoredFile, ...] = ()

    def takes(self, other: "FileGroup", named: StoredFile) -> bool:
        if self.route != other.route or self.wording != other.wording or (self.files and named.caption):
            return False
        kinds: tuple[FileKind, ...] = tuple([each.file.kind or "document" for each in self.files])
        return self.limits.may_join(kinds, named.file.kind or "document")

    def planned(self, stem: str) -> list[PlannedOperation]:
        """`stem`: the turn's prefix of keys."""
        keys = [each.key for each in self.files]
        key = keys[0] if len(keys) == 1 else f"{stem}/files/{_digest(' '.join(keys).encode())}"
        caption = next((each.caption for each in self.files if each.caption), "")
        files = tuple([each.file for each in self.files])
        return plan.show_files(files, caption, self.route, captioned(self.options, self.limits), self.wording, key)


def captioned(options: RenderOptions, limits: FileLimits) -> RenderOptions:
    """The render options for captions, if the platform has less room for these."""
    if limits.caption is None:
        return options
    return replace(options, limit=limits.caption if options.limit is None else min(options.limit, limits.caption))


async def unsent(group: FileGroup, stem: str, store: StoreReader) -> FileGroup:
    """The group without the files that an earlier run of the turn has planned in another group."""
    known = await store.parts_under(stem)
    if not known or ((planned := group.planned(stem)) and any(part.key == planned[0].key for part in known)):
        return group
    operations = [decode(part.body) for part in known if part.kind == "say" and part.state != "withdrawn"]
    sent = {file.id for each in operations if isinstance(each, Say) for file in each.part.files}
    return replace(group, files=tuple([each for each in group.files if each.file.id not in sent]))
