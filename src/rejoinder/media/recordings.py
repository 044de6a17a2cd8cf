"""Recordings for agents that hear (ME-1): models take WAV and MP3, platforms send Opus and others."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from rejoinder.errors import NotUnderstood
from rejoinder.media import sound
from rejoinder.media_services import larger_than

AT_ONCE = 2
SECONDS = 60.0
TAKEN = ("wav", "mp3")


class Recordings:
    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)

    async def prepare(self, content: bytes, most: int) -> tuple[str, bytes]:
        came = sound.format_of(content)
        if came is None:
            raise NotUnderstood("its format is not supported")
        program = sound.ffmpeg()
        if came not in TAKEN and program is not None:
            came, content = "mp3", await self._converted(program, came, content)
        if len(content) > most:
            raise NotUnderstood(larger_than(most))
        return sound.MIME_OF[came], content

    async def _converted(self, program: str, came: str, content: bytes) -> bytes:
        async with self._free:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="rejoinder-recording-"))
            try:
                source = folder / "recording"
                await asyncio.to_thread(source.write_bytes, content)
                return await sound.encoded(program, source, came, "mp3", folder, seconds=SECONDS)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
