"""Speech for tests, by programs that nobody here wrote: flite speaks, ffmpeg converts, pocketsphinx recognises."""

import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.peers import program, python_with

RECOGNISE = Path(__file__).parent / "data" / "recognise.py"
SENTENCE = "please remind me to buy milk tomorrow"
"""Recognised without a mistake when flite says it."""


@cache
def spoken(text: str = SENTENCE, form: str = "ogg") -> bytes:
    """A voice note: Opus in Ogg as messengers send it, or `webm` as a browser records it, or another form."""
    speaking = subprocess.run(
        [program("flite"), "-voice", "slt", "-t", text, "-o", "/dev/stdout"], capture_output=True, check=True
    )
    return converted(speaking.stdout, form)


@cache
def silence(seconds: int = 2, form: str = "ogg") -> bytes:
    return converted(bytes(44) + bytes(32_000 * seconds), form, "-f", "s16le", "-ar", "16000", "-ac", "1")


def converted(sound: bytes, form: str, *given: str) -> bytes:
    codec = {"ogg": "libopus", "webm": "libopus", "mp3": "libmp3lame", "wav": "pcm_s16le"}[form]
    command = [program("ffmpeg"), "-v", "error", *given, "-i", "pipe:0", "-c:a", codec, "-f", form, "pipe:1"]
    return subprocess.run(command, input=sound, capture_output=True, check=True).stdout


@cache
def filmed() -> bytes:
    """The sentence as a video note: a round film of somebody who says it."""
    with TemporaryDirectory() as folder:
        sound, film = Path(folder, "sound.wav"), Path(folder, "film.mp4")
        sound.write_bytes(spoken(form="wav"))
        made = ["-f", "lavfi", "-i", "color=teal:size=240x240:rate=5", "-i", str(sound), "-shortest", "-c:a", "aac"]
        subprocess.run([program("ffmpeg"), "-v", "error", *made, "-c:v", "mpeg4", str(film)], check=True)
        return film.read_bytes()


def recogniser() -> list[str]:
    """A command for `media.speech_to_text`."""
    return [str(python_with("pocketsphinx")), str(RECOGNISE), "{file}"]


def speaker() -> list[str]:
    """A command for `media.text_to_speech`."""
    return [program("flite"), "-voice", "slt", "-f", "{text}", "-o", "{file}"]


def recognised(sound: bytes, folder: Path) -> str:
    """What is said in a recording of any form."""
    wav = folder / "recognised.wav"
    to_samples = [program("ffmpeg"), "-v", "error", "-y", "-i", "pipe:0", "-ar", "16000", "-ac", "1", str(wav)]
    subprocess.run(to_samples, input=sound, capture_output=True, check=True)
    command = [argument.replace("{file}", str(wav)) for argument in recogniser()]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())
