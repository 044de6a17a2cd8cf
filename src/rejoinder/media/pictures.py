"""Puts pictures into words by a program, for agents that cannot see (ME-12)."""

import asyncio
import shutil
import tempfile
from mimetypes import guess_extension
from pathlib import Path

from rejoinder.errors import NotUnderstood
from rejoinder.media.program import run
from rejoinder.media.settings import PictureSettings
from rejoinder.unicode_repair import repair_text

AT_ONCE = 2
MOST_ANSWERED = 1 << 20


class PictureDescriber:
    def __init__(self, settings: PictureSettings) -> None:
        self._settings = settings
        self._free = asyncio.Semaphore(AT_ONCE)

    async def describe(self, content: bytes, mime: str) -> str:
        async with self._free:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="rejoinder-picture-"))
            try:
                return await self._describe(folder / f"picture{guess_extension(mime) or ''}", content)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _describe(self, picture: Path, content: bytes) -> str:
        settings = self._settings
        await asyncio.to_thread(picture.write_bytes, content)
        command = [argument.replace("{file}", str(picture)) for argument in settings.command]
        ran = await run(command, picture.parent, seconds=settings.timeout_s, most=MOST_ANSWERED)
        words = repair_text(ran.output.decode("utf-8", "replace").strip())
        if not words:
            raise NotUnderstood("it was not described", f"{command[0]} printed nothing")
        return words
