"""Files as the Bot API takes them (ME-10): one by the method of its kind, several as an album. Pure.

Rule 1: a file that Telegram's player cannot play is sent as a document: otherwise it would be refused, or shown as one
        anyway.
Rule 2: an album cannot mix documents or audio with other kinds; if one file has to be a document, all are.
"""

from typing import Any, Final

import msgspec

from rejoinder.channels.base import FileLimits, OutgoingFile
from rejoinder.channels.telegram import payloads
from rejoinder.events import FileKind, Part

FILES: Final = FileLimits(
    50_000_000,
    by_kind={"photo": 10_000_000},
    album=10,
    together=(frozenset({"photo", "video"}), frozenset({"audio"}), frozenset({"document"})),
    caption=1024,
)
ALBUM: Final = "sendMediaGroup"
_METHODS: Final[dict[FileKind, str]] = {
    "photo": "sendPhoto",
    "video": "sendVideo",
    "audio": "sendAudio",
    "voice": "sendVoice",
    "document": "sendDocument",
}
_PLAYED: Final[dict[FileKind, tuple[str, ...]]] = {
    "video": ("video/mp4",),
    "audio": ("audio/mpeg", "audio/mp4"),
    "voice": ("audio/ogg", "audio/mpeg", "audio/mp4"),
}


def kind_of(file: OutgoingFile) -> FileKind:
    return "document" if file.mime not in _PLAYED.get(file.kind, (file.mime,)) else file.kind


def request(part: Part, files: tuple[OutgoingFile, ...]) -> tuple[str, dict[str, Any], list[tuple[str, OutgoingFile]]]:
    """The method, its fields, and the files by their names in the form."""
    kinds: list[FileKind] = [kind_of(file) for file in files]
    if len(files) > 1 and "document" in kinds:
        kinds = ["document"] * len(files)
    words, around = payloads.caption(part), payloads.around(part)
    if len(files) == 1:
        return _METHODS[kinds[0]], {**around, **words, **_duration(part, kinds[0])}, [(kinds[0], files[0])]
    names = [f"file{number}" for number in range(len(files))]
    media: list[dict[str, Any]] = [
        {"type": kind, "media": f"attach://{name}"} for kind, name in zip(kinds, names, strict=True)
    ]
    media[0] |= words
    return ALBUM, {**around, "media": media}, list(zip(names, files, strict=True))


def _duration(part: Part, kind: FileKind) -> dict[str, int]:
    """The duration of a file that is played: clients show it before they have loaded a byte."""
    seconds = part.files[0].seconds if part.files and kind in _PLAYED else None
    return {} if not seconds else {"duration": max(1, round(seconds))}


def fields(payload: dict[str, Any]) -> dict[str, str | bytes]:
    """A payload as form fields: strings as they are, everything else as JSON."""
    return {name: value if isinstance(value, str) else msgspec.json.encode(value) for name, value in payload.items()}
