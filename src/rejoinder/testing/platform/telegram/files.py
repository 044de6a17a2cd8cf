"""Files of a bot, checked as strictly as by Telegram: by their bytes, and within the limits of each kind."""

from typing import Any, Final

from msgspec import Struct

from rejoinder.documents import is_array, is_object
from rejoinder.filetypes import sniffed
from rejoinder.testing.platform.telegram.strict import Refusal, bad, check_entities
from rejoinder.testing.platform.telegram.world import units

MOST_BYTES: Final = 50_000_000
MOST_OF_A_PHOTO: Final = 10_000_000
LONGEST_CAPTION: Final = 1024
FEWEST, MOST = 2, 10
_TOGETHER = (frozenset({"photo", "video"}), frozenset({"audio"}), frozenset({"document"}))
_AUDIO = ("audio/mpeg", "audio/mp4")
_BYTES = {
    "photo": ("image/png", "image/jpeg", "image/webp"),
    "video": ("video/mp4",),
    "audio": _AUDIO,
    "voice": ("audio/ogg", *_AUDIO),
}


class SentFile(Struct, frozen=True):
    """A file in a form."""

    name: str
    mime: str
    content: bytes


class Shown(Struct, frozen=True):
    """A file of a message that people see."""

    kind: str
    file: SentFile
    caption: str
    entities: tuple[dict[str, Any], ...] = ()


def taken(kind: str, file: Any) -> SentFile:
    if not isinstance(file, SentFile):
        bad(f"there is no {kind} in the request")
    if not file.content:
        bad("file must be non-empty")
    if len(file.content) > MOST_BYTES:
        raise Refusal(413, "Request Entity Too Large")
    if kind == "photo" and len(file.content) > MOST_OF_A_PHOTO:
        bad("file is too big for a photo; the maximum size is 10485760 bytes")
    if kind in _BYTES and sniffed(file.content[:64]) not in _BYTES[kind]:
        bad("IMAGE_PROCESS_FAILED" if kind == "photo" else "wrong file type")
    return file


def captioned(payload: dict[str, Any]) -> tuple[str, tuple[dict[str, Any], ...]]:
    text, entities = payload.get("caption", ""), payload.get("caption_entities", [])
    if not isinstance(text, str):  # a number is JSON, too
        text = str(text)
    if entities:
        check_entities(text, entities)
    if units(text) > LONGEST_CAPTION:
        bad("message caption is too long")
    return text, tuple(entities)


def one(kind: str, payload: dict[str, Any]) -> Shown:
    return Shown(kind, taken(kind, payload.get(kind)), *captioned(payload))


def album(payload: dict[str, Any]) -> list[Shown]:
    media = payload.get("media")
    if not is_array(media) or not FEWEST <= len(media) <= MOST:
        bad("group of messages must include 2-10 items")
    if any(not is_object(each) for each in media):
        bad("can't parse InputMedia: expected an Object")
    kinds = {str(each.get("type")) for each in media}
    if not any(kinds <= group for group in _TOGETHER):
        bad("Media Albums can't contain different types of media")
    shown: list[Shown] = []
    for each in media:
        name = str(each.get("media", "")).removeprefix("attach://")
        shown.append(Shown(each["type"], taken(each["type"], payload.get(name)), *captioned(each)))
    return shown
