"""A file an agent sends: read once, kept by the channel, and only then named by what is said (DE-37)."""

import asyncio
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from rejoinder.channels.base import CanSendFiles
from rejoinder.events import Attachment

BYTES = "application/octet-stream"
_encode = msgspec.json.Encoder(order="sorted").encode


class OutboxFolder(Protocol):
    """The one folder out of which a session's agent sends files. What it will not do it says by `FileRefused`."""

    path: str

    def read(self, name: str, limit: int) -> Attachment: ...

    def remove(self, name: str) -> None: ...


def file_key(stem: str, args: Mapping[str, Any]) -> str:
    """By what was asked and not by what the file holds: asked again after a restart, it is sent once (DU-2)."""
    return f"{stem}/file/{blake2b(_encode(args), digest_size=9).hexdigest()}"


async def kept_for(key: str, path: str, kind: str | None, folder: OutboxFolder, channel: CanSendFiles) -> Attachment:
    """As a part names it; not read again when the channel has it, for the agent may have taken it away since.

    `kind`: a picture that is to come as a `file` is not shown as one.
    """
    if (kept := await channel.kept_file(key)) is not None:
        return kept
    file = await asyncio.to_thread(folder.read, path, channel.file_limit)
    return await channel.keep_file(key, replace(file, mime=BYTES) if kind == "file" else file)
