"""Spoken commands: `/status` is heard as "slash status" (DE-36)."""

import re
from collections.abc import Container

_SLASH = re.compile(r"\s*(?:forward[ -]?)?slash[\s,.:-]*([A-Za-z]+)\b[.,!?;:]*\s*", re.IGNORECASE)
_ENDS = ".!?"


def spoken(transcript: str) -> str:
    """The transcript, with its first words as they would be typed if they may be a command."""
    match = _SLASH.match(transcript)
    if match is None:
        return transcript
    rest = transcript[match.end() :].rstrip()
    return f"/{match.group(1).lower()} {rest}".rstrip() if rest else f"/{match.group(1).lower()}"


def spoken_command(transcript: str, commands: Container[str]) -> str:
    """The transcript as its sender meant it: unchanged, unless it begins with one of these commands. A full stop at the
    end of a command was added by the transcription and is removed."""
    match = _SLASH.match(transcript)
    if match is None or match.group(1).lower() not in commands:
        return transcript
    return spoken(transcript).rstrip(_ENDS)
