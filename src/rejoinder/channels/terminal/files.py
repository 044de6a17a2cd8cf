"""Files of an agent in a terminal: each is saved in a folder, and the message says where."""

import asyncio
import tempfile
from pathlib import Path

from msgspec.structs import replace

from rejoinder.channels.base import FileLimits, OutgoingFile
from rejoinder.events import Part
from rejoinder.filetypes import in_words

FILES = FileLimits(2 << 30, album=20)


class ChatFolder:
    """A folder for each chat; it stays after the chat has ended."""

    def __init__(self) -> None:
        self._path: Path | None = None

    async def with_paths(self, part: Part, files: tuple[OutgoingFile, ...]) -> Part:
        """The part as text only."""
        lines = [f"{file.name} ({in_words(file.size)}): {await self._saved(file)}" for file in files]
        return replace(part, text="\n".join(filter(None, (part.text, *lines))), files=())

    async def _saved(self, file: OutgoingFile) -> Path:
        if self._path is None:
            self._path = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="rejoinder-files-"))
        path = await asyncio.to_thread(_free, self._path, file.name)
        async for chunk in file.chunks():
            await asyncio.to_thread(_append, path, chunk)
        return path


def _free(folder: Path, name: str) -> Path:
    """Opens a new file of this name, or with a number before the name if there is one already."""
    number, path = 1, folder / name
    while True:
        try:
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            number += 1
            path = folder / f"{number}-{name}"
        else:
            return path


def _append(path: Path, chunk: bytes) -> None:
    with path.open("ab") as file:
        file.write(chunk)
