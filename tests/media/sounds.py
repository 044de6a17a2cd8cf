"""Recordings as nobody should send them."""

import subprocess
from functools import cache

from tests.peers import program
from tests.speech import silence, spoken

PLAYLIST = b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
HOURS = 3


@cache
def three_hours() -> bytes:
    """Eleven megabytes: ten seconds, one after the other, which are one recording."""
    tone = ("-f", "lavfi", "-i", "sine=440:duration=10", "-ar", "16000", "-b:a", "8k", "-f", "mp3", "pipe:1")
    made = subprocess.run([program("ffmpeg"), "-v", "error", *tone], capture_output=True, check=True)
    return made.stdout * (HOURS * 360)


def bad_sounds() -> dict[str, tuple[str, bytes, str]]:
    """A name, the content, and what is said of it."""
    return {
        "audio of three hours": ("talk.mp3", three_hours(), "it is longer than 10 minutes"),
        "silence": ("silence.ogg", silence(), "nothing can be heard in it"),
        "a codec nobody has": ("note.ogg", b"OggS" + bytes(range(256)) * 40, "the program for it failed"),
        "half a recording": ("half.webm", spoken(form="webm")[:200], "the program for it failed"),
        "a picture that claims to be a voice": (
            "voice.ogg",
            b"\x89PNG\r\n\x1a\n" + bytes(99),
            "its format is not supported",
        ),
        "a playlist that names a file": ("list.m3u8", PLAYLIST, "its format is not supported"),
    }
