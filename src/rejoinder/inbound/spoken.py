"""A command that is spoken: "slash status" is heard where `/status` was meant (DE-36)."""

import re
from collections.abc import Container

_SLASH = re.compile(r"\s*(?:forward[ -]?)?slash[\s,.:-]*([A-Za-z]+)\b[.,!?;:]*\s*", re.IGNORECASE)
_ENDS = ".!?"


def spoken(transcript: str) -> str:
    """The transcript with its first word as it would be typed, if that may be a command."""
    match = _SLASH.match(transcript)
    if match is None:
        return transcript
    rest = transcript[match.end() :].rstrip()
    return f"/{match.group(1).lower()} {rest}".rstrip() if rest else f"/{match.group(1).lower()}"


def spoken_command(transcript: str, commands: Container[str]) -> str:
    """The transcript as its sender meant it: as it is, unless it begins with one of these commands. Who ends a command
    with a sentence's full stop did not say it."""
    match = _SLASH.match(transcript)
    if match is None or match.group(1).lower() not in commands:
        return transcript
    return spoken(transcript).rstrip(_ENDS)
