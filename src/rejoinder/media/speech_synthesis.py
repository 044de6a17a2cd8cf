"""Speaks, with a program or an OpenAI-compatible endpoint (ME-2), in the format of a platform (ME-3)."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from rejoinder.errors import NotUnderstood, TookTooLong
from rejoinder.media import service, sound
from rejoinder.media.program import run
from rejoinder.media.settings import TextToSpeech
from rejoinder.media_services import Recording, VoiceForm

AT_ONCE = 4
MOST_SPOKEN = 32 << 20
"""The most bytes of a result."""
LONGEST_SECONDS = 3600
USUAL_VOICE = "alloy"
_FORMS: dict[VoiceForm, str] = {"opus": "ogg", "mp3": "mp3"}


@asynccontextmanager
async def _folder() -> AsyncGenerator[Path]:
    """A temporary folder, which is removed afterwards."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="rejoinder-voice-"))
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


class SpeechSynthesizer:
    def __init__(self, settings: TextToSpeech) -> None:
        self._settings = settings
        self._free = asyncio.Semaphore(AT_ONCE)

    async def speak(self, text: str, voice: str, form: VoiceForm) -> Recording:
        seconds = self._settings.timeout_s
        try:
            async with asyncio.timeout(seconds), self._free, _folder() as folder:
                return await self._speak(text, voice or self._settings.voice, form, folder)
        except TimeoutError:
            raise TookTooLong(f"{seconds:.0f} s") from None

    async def measure(self, content: bytes, mime: str) -> Recording:
        if (program := sound.ffmpeg()) is None:
            return Recording(content, mime)
        limits = {"most_seconds": LONGEST_SECONDS, "seconds": self._settings.timeout_s}
        try:
            async with self._free, _folder() as folder:
                measured = await sound.decoded(program, content, folder, **limits)
                return Recording(
                    content, mime, measured.seconds, await asyncio.to_thread(sound.waveform, measured.path)
                )
        except NotUnderstood:  # it is sent anyway
            return Recording(content, mime)

    async def _speak(self, text: str, voice: str, form: VoiceForm, folder: Path) -> Recording:
        settings = self._settings
        content = await (self._run(text, voice, folder) if settings.command else self._ask(text, voice))
        came = sound.format_of(content)
        if came is None:
            raise NotUnderstood("the result is not audio", f"it begins with {content[:40]!r}")
        if (program := sound.ffmpeg()) is None:
            return Recording(content, sound.MIME_OF[came])
        limits = {"most_seconds": LONGEST_SECONDS, "seconds": settings.timeout_s}
        measured = await sound.decoded(program, content, folder, **limits)
        if measured.is_silent:
            raise NotUnderstood("nothing was spoken")
        if came != _FORMS[form]:
            content = await sound.encoded(program, folder / "recording", came, form, folder, seconds=settings.timeout_s)
        waveform = await asyncio.to_thread(sound.waveform, measured.path)
        return Recording(content, sound.MIMES[form], measured.seconds, waveform)

    async def _run(self, text: str, voice: str, folder: Path) -> bytes:
        settings, words, spoken = self._settings, folder / "words.txt", folder / "spoken"
        words.write_text(text, encoding="utf-8")
        given = {"{text}": str(words), "{file}": str(spoken), "{voice}": voice}
        command: list[str] = []
        for argument in settings.command:
            for name, value in given.items():
                argument = argument.replace(name, value)
            command.append(argument)
        by_input = None if any("{text}" in argument for argument in settings.command) else words
        ran = await run(command, folder, seconds=settings.timeout_s, most=MOST_SPOKEN, reads=by_input)
        if not any("{file}" in argument for argument in settings.command):
            return ran.output
        if not spoken.is_file() or spoken.is_symlink():
            raise NotUnderstood("the program for it failed", f"{settings.command[0]} did not write its file")
        return await asyncio.to_thread(spoken.read_bytes)

    async def _ask(self, text: str, voice: str) -> bytes:
        settings = self._settings
        assert settings.base_url is not None
        request = {
            "model": settings.model,
            "voice": voice or USUAL_VOICE,
            "input": text,
            "response_format": settings.format,
        }
        url = f"{settings.base_url.rstrip('/')}/audio/speech"
        return await service.post(
            url, settings.api_key, lambda: {"json": request}, seconds=settings.timeout_s, most=MOST_SPOKEN
        )
