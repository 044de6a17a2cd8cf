"""Examines recordings with ffmpeg (format, length, loudness) and converts them.

Rule 1: the first bytes decide the format of a recording. We tell ffmpeg, so that it does not guess: it knows formats
        that refer to other files and addresses.
Rule 2: ffmpeg may only open files, and has limits on time, memory and output.
"""

import array
import asyncio
import re
import shutil
from pathlib import Path

from msgspec import Struct

from rejoinder.errors import NotUnderstood
from rejoinder.media.program import run
from rejoinder.media_services import VoiceForm

RATE = 16_000
SILENT = -45.0
"""Decibels below full scale: a recording whose loudest sound is not above this is silent."""
MEMORY = 2 << 30
BARS = 100
"""Levels of a waveform."""
_HEADER = 44
_TIME = re.compile(r"time=(\d+):(\d+):(\d+(?:\.\d+)?)")
_LOUDEST = re.compile(r"max_volume: (-?[0-9.]+|-inf) dB")

_BEGINS: tuple[tuple[bytes, int, str], ...] = (
    (b"OggS", 0, "ogg"),
    (b"fLaC", 0, "flac"),
    (b"ID3", 0, "mp3"),
    (b"ftyp", 4, "mov"),
    (b"\x1a\x45\xdf\xa3", 0, "matroska"),
    (b"#!AMR", 0, "amr"),
    (b"caff", 0, "caf"),
)
"""The first bytes of a format, their position, and ffmpeg's name for it."""

_ENCODERS: dict[VoiceForm, tuple[str, ...]] = {
    "opus": ("-c:a", "libopus", "-b:a", "32k", "-ar", "48000", "-f", "ogg"),
    "mp3": ("-c:a", "libmp3lame", "-b:a", "64k", "-ar", "44100", "-f", "mp3"),
}
MIME_OF = {
    "ogg": "audio/ogg",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "mov": "audio/mp4",
    "matroska": "audio/webm",
    "amr": "audio/amr",
    "caf": "audio/x-caf",
    "aiff": "audio/aiff",
    "aac": "audio/aac",
}
"""The types by ffmpeg's name for the format."""
MIMES: dict[VoiceForm, str] = {"opus": "audio/ogg", "mp3": "audio/mpeg"}


class Sound(Struct, frozen=True):
    """A recording as plain samples, 16 bits at 16 kHz."""

    path: Path
    seconds: float
    is_silent: bool


def ffmpeg() -> str | None:
    return shutil.which("ffmpeg")


def format_of(content: bytes) -> str | None:
    """ffmpeg's name for the format; None: the format is not known here."""
    for begins, at, name in _BEGINS:
        if content[at : at + len(begins)] == begins:
            return name
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return "wav"
    if content[:4] == b"FORM" and content[8:12] in (b"AIFF", b"AIFC"):
        return "aiff"
    if len(content) > 1 and content[0] == 0xFF and content[1] & 0xE0 == 0xE0:
        return "aac" if content[1] & 0x06 == 0 else "mp3"
    return None


async def decoded(program: str, content: bytes, folder: Path, *, most_seconds: float, seconds: float) -> Sound:
    """Reads the first `most_seconds` of a recording, and a moment more, to see whether it goes on. Raises
    `NotUnderstood`."""
    form = format_of(content)
    if form is None:
        raise NotUnderstood("its format is not supported")
    source, target = folder / "recording", folder / "samples.wav"
    await asyncio.to_thread(source.write_bytes, content)
    ran = await run(
        (
            *(program, "-nostdin", "-hide_banner", "-protocol_whitelist", "file,pipe", "-threads", "1"),
            *("-f", form, "-i", str(source), "-map", "0:a:0", "-t", f"{most_seconds + 1:.0f}"),
            *("-af", "volumedetect", "-ar", str(RATE), "-ac", "1", "-c:a", "pcm_s16le", "-f", "wav", "-y", str(target)),
        ),
        folder,
        seconds=seconds,
        most=1 << 20,
        writes=int((most_seconds + 2) * RATE * 2) + (1 << 20),
        memory=MEMORY,
    )
    size = max(0, target.stat().st_size - _HEADER)
    loudest = _LOUDEST.findall(ran.errors)
    is_silent = size == 0 or not loudest or float(loudest[-1]) <= SILENT
    return Sound(target, max(size / (2 * RATE), _reached(ran.errors)), is_silent)


def _reached(errors: str) -> float:
    """How far ffmpeg came, in seconds. If pieces cannot be decoded, there are fewer samples than that."""
    times = _TIME.findall(errors)
    hours, minutes, seconds = times[-1] if times else ("0", "0", "0")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


async def encoded(program: str, source: Path, came: str, form: VoiceForm, folder: Path, *, seconds: float) -> bytes:
    """Converts a recording of a known format into a voice note."""
    target = folder / f"voice.{form}"
    command = (
        *(program, "-nostdin", "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file,pipe"),
        *("-f", came, "-i", str(source), "-map", "0:a:0", "-map_metadata", "-1", "-ac", "1"),
        *(*_ENCODERS[form], "-y", str(target)),
    )
    await run(command, folder, seconds=seconds, most=1 << 20, memory=MEMORY)
    return target.read_bytes()


def waveform(samples: Path) -> bytes:
    """The loudest sample of each of `BARS` equal stretches, from 0 to 255."""
    data = array.array("h")
    content = samples.read_bytes()[_HEADER:]
    data.frombytes(content[: len(content) // 2 * 2])
    step = len(data) // BARS
    if not step:
        return b""
    bars = [max(map(abs, data[at : at + step : 7])) for at in range(0, step * BARS, step)]
    loudest = max(bars) or 1
    return bytes([bar * 255 // loudest for bar in bars])
