"""Transcribes recordings, with a program or an OpenAI-compatible endpoint (ME-1).

If ffmpeg is installed, a recording is measured first: one that is too long, silent or not a recording at all is refused
without a transcription, and a program always gets plain samples.
"""

import asyncio
import shutil
import tempfile
from pathlib import Path

import aiohttp
import msgspec
from msgspec import Struct

from rejoinder.errors import NotUnderstood, TookTooLong
from rejoinder.media import service, sound
from rejoinder.media.program import run
from rejoinder.media.settings import SpeechToText
from rejoinder.media_services import longer_than
from rejoinder.unicode_repair import from_json, repair_text

AT_ONCE = 4
"""How many recordings are transcribed at a time: each is in memory meanwhile."""
MOST_ANSWERED = 1 << 20
MOST_WORDS = 50_000
"""Characters of a transcript."""
WITHOUT_WORDS = "there are no words in it"
TAKEN = {"ogg": "ogg", "flac": "flac", "mp3": "mp3", "wav": "wav", "mov": "m4a", "matroska": "webm"}
"""Formats that endpoints accept as they are, by the extension that tells them the format."""


class _Transcript(Struct, frozen=True):
    text: str


_transcript = msgspec.json.Decoder(_Transcript)


class Transcriber:
    def __init__(self, settings: SpeechToText) -> None:
        self._settings = settings
        self._free = asyncio.Semaphore(AT_ONCE)

    async def hear(self, name: str, mime: str, content: bytes) -> str:
        try:
            async with asyncio.timeout(self._settings.timeout_s), self._free:
                folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="rejoinder-sound-"))
                try:
                    words = await self._hear(name, content, folder)
                finally:
                    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        except TimeoutError:
            raise TookTooLong(f"{name}: {self._settings.timeout_s:.0f} s") from None
        words = repair_text(words.strip())[:MOST_WORDS]
        if not words:
            raise NotUnderstood(WITHOUT_WORDS)
        return words

    async def _hear(self, name: str, content: bytes, folder: Path) -> str:
        settings, measured = self._settings, None
        if (program := sound.ffmpeg()) is not None:
            limits = {"most_seconds": settings.max_seconds, "seconds": settings.timeout_s}
            measured = await sound.decoded(program, content, folder, **limits)
            if measured.seconds > settings.max_seconds:
                raise NotUnderstood(longer_than(settings.max_seconds))
            if measured.is_silent:
                raise NotUnderstood("nothing can be heard in it")
        if settings.command:
            file = folder / "recording" if measured is None else measured.path
            if measured is None:
                await asyncio.to_thread(file.write_bytes, content)
            command = [argument.replace("{file}", str(file)) for argument in settings.command]
            ran = await run(command, folder, seconds=settings.timeout_s, most=MOST_ANSWERED)
            return ran.output.decode("utf-8", "replace")
        return await self._ask(content, measured)

    async def _ask(self, content: bytes, measured: sound.Sound | None) -> str:
        settings = self._settings
        assert settings.base_url is not None
        ending = TAKEN.get(sound.format_of(content) or "")
        if ending is None and measured is not None:
            content, ending = await asyncio.to_thread(measured.path.read_bytes), "wav"
        if ending is None:
            raise NotUnderstood("its format is not supported")

        def body() -> dict[str, aiohttp.FormData]:
            form = aiohttp.FormData()
            form.add_field("file", content, filename=f"recording.{ending}", content_type="application/octet-stream")
            form.add_field("model", settings.model)
            form.add_field("response_format", "json")
            if settings.language:
                form.add_field("language", settings.language)
            return {"data": form}

        url = f"{settings.base_url.rstrip('/')}/audio/transcriptions"
        answer = await service.post(url, settings.api_key, body, seconds=settings.timeout_s, most=MOST_ANSWERED)
        try:
            return from_json(answer, _transcript).text
        except msgspec.MsgspecError as problem:
            raise NotUnderstood(
                "the speech service gave no transcript", f"{url}: {problem}: {answer[:200]!r}"
            ) from None
