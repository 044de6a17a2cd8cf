"""A file an agent sends: it is read once and kept by the channel before any message refers to it (DE-37)."""

import asyncio
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from rejoinder.channels.base import CanSendFiles
from rejoinder.events import Attachment
from rejoinder.outbound.directives.effects import SendFile
from rejoinder.runtime.folders import OutboxFolder

BYTES = "application/octet-stream"
_encode = msgspec.json.Encoder(order="sorted").encode


def file_key(stem: str, request: SendFile) -> str:
    """Made from the request, not from the file's content: a request repeated after a restart sends once (DU-2)."""
    return f"{stem}/file/{blake2b(_encode(request), digest_size=9).hexdigest()}"


async def kept_for(key: str, path: str, kind: str | None, folder: OutboxFolder, channel: CanSendFiles) -> Attachment:
    """The file as a part refers to it. What the channel already keeps is not read again: the agent may have removed it.

    `kind`: a picture sent as a `file` is not displayed as a picture.
    """
    if (kept := await channel.kept_file(key)) is not None:
        return kept
    file = await asyncio.to_thread(folder.read, path, channel.file_limit)
    return await channel.keep_file(key, replace(file, mime=BYTES) if kind == "file" else file)
