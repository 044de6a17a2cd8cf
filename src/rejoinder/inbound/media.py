"""What happens to the files of a message (IN-9).

Rule 1: an agent is always told of a file. How much of it the agent gets is decided here, by the file's own bytes and
not by its claimed name or type.
Rule 2: the content of a file is the words of its author: data, never searched for commands (IN-6).
Rule 3: limits apply to the message as a whole; earlier files are served first.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Attachment
from rejoinder.filetypes import in_words
from rejoinder.inbound.documents import claims_document

Treatment = Literal["image", "audio", "text", "describe", "note"]
"""Shown to the agent as a picture, given to it as a recording, inlined as text, described by another agent, or only
mentioned."""


class MediaLimits(Struct, frozen=True):
    images: int = 10
    image_bytes: int = 5_000_000
    recordings: int = 3
    audio_bytes: int = 10_000_000
    """The limit for a recording, for agents that can hear."""
    text_bytes: int = 64_000
    all_text_bytes: int = 200_000
    fetched_bytes: int = 1_000_000
    """The limit for files that are not pictures: a larger one is not fetched to find out whether it is text."""
    document_bytes: int = 0
    """The limit for documents and pictures that are read or scaled; 0 if nothing does that."""


USUAL = MediaLimits()
SOUND = "you get the recording as well"


class ShownFile(Struct, frozen=True):
    """One file and what the agent gets of it; `why` says what is missing."""

    attachment: Attachment
    treatment: Treatment
    mime: str
    text: str | None = None
    why: str | None = None
    note: str | None = None
    """What the text is, if it is not the file's content."""


def is_recording(file: Attachment) -> bool:
    return file.kind in ("voice", "audio") or file.mime.startswith("audio/")


def worth_fetching(file: Attachment, *, sees_images: bool, limits: MediaLimits = USUAL) -> int:
    """How many bytes to fetch of a file that is still on the platform; 0 if the agent could not use it."""
    if file.mime.partition("/")[0] in ("audio", "video") or file.content is not None:
        return 0
    most = _most(file, sees_images, limits)
    return most if file.size is None or file.size <= most else 0


def _most(file: Attachment, sees_images: bool, limits: MediaLimits) -> int:
    if file.mime.startswith("image/"):
        return max(limits.image_bytes, limits.document_bytes) if sees_images else 0
    return max(limits.fetched_bytes, limits.document_bytes) if claims_document(file) else limits.fetched_bytes


def too_large(file: Attachment, *, sees_images: bool, limits: MediaLimits = USUAL) -> str | None:
    """Why a file was not fetched, if that is because of its size."""
    most = _most(file, sees_images, limits)
    return f"it is larger than the {in_words(most)} that are read" if most and (file.size or 0) > most else None


def show_media(
    attachments: tuple[Attachment, ...],
    *,
    sees_images: bool,
    hears_audio: bool = False,
    limits: MediaLimits = USUAL,
) -> tuple[ShownFile, ...]:
    """One decision for each file, in their order."""
    images, recordings, text_left = 0, 0, limits.all_text_bytes
    shown: list[ShownFile] = []
    for attachment in attachments:
        decided = _show(attachment, sees_images, images < limits.images, min(text_left, limits.text_bytes), limits)
        if hears_audio and recordings < limits.recordings and is_recording(attachment) and attachment.content:
            decided = replace(decided, treatment="audio", why=decided.why if attachment.heard else None, note=SOUND)
            recordings += 1
        images += decided.treatment == "image"
        if decided.treatment in ("text", "audio"):
            text_left -= len((decided.text or "").encode("utf-8", "replace"))
        shown.append(decided)
    return tuple(shown)


def _show(attachment: Attachment, sees_images: bool, room: bool, text_bytes: int, limits: MediaLimits) -> ShownFile:
    content, mime = attachment.content, attachment.mime
    if attachment.heard is not None:
        return ShownFile(attachment, "text", mime, attachment.heard[: max(text_bytes, 0)], "this is its transcript")
    if attachment.unheard is not None:
        return ShownFile(attachment, "note", mime, why=f"it could not be heard: {attachment.unheard}")
    if attachment.words is not None:
        return _show_words(attachment, attachment.words, text_bytes)
    if attachment.note is not None:
        return ShownFile(attachment, "note", mime, why=attachment.note)
    if content is None and mime.startswith("image/") and not sees_images:
        return ShownFile(attachment, "describe", mime, why="you cannot see pictures")
    if content is None:
        return ShownFile(attachment, "note", mime, why="its content was not fetched")
    if (picture := image_type(content)) is not None:
        if not sees_images and attachment.described is not None:
            return ShownFile(
                attachment, "describe", picture, attachment.described, "you cannot see it: this is a description of it"
            )
        if not sees_images:
            return ShownFile(attachment, "describe", picture, why="you cannot see pictures")
        if not room:
            return ShownFile(attachment, "note", picture, why=f"more than {limits.images} pictures")
        if len(content) > limits.image_bytes:
            return ShownFile(attachment, "note", picture, why=f"larger than {limits.image_bytes} bytes")
        return ShownFile(attachment, "image", picture)
    if mime.partition("/")[0] in ("audio", "video", "image"):
        return ShownFile(attachment, "describe", mime, why=f"you cannot read {mime}")
    return _show_text(attachment, content, mime, text_bytes)


def _show_words(attachment: Attachment, words: str, most: int) -> ShownFile:
    """The text of a document, as much as there is room for."""
    if most <= 0:
        return ShownFile(attachment, "note", attachment.mime, why="the files before it used up the limit")
    whole = words.encode("utf-8", "replace")
    text = words if len(whole) <= most else whole[:most].decode("utf-8", errors="ignore")
    cut = None if len(whole) <= most else f"only the first {in_words(most)} of {in_words(len(whole))}"
    return ShownFile(attachment, "text", attachment.mime, text, cut, attachment.note)


def _show_text(attachment: Attachment, content: bytes, mime: str, most: int) -> ShownFile:
    if b"\0" in content:
        return ShownFile(attachment, "note", mime, why="it is not text")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return ShownFile(attachment, "note", mime, why="it is not text in UTF-8")
    if most <= 0:
        return ShownFile(attachment, "note", mime, why="the files before it used up the limit")
    # A character that the limit cuts in two is dropped.
    text = content[:most].decode("utf-8", errors="ignore").removeprefix("\ufeff")
    cut = f"only the first {most} of {len(content)} bytes" if len(content) > most else None
    return ShownFile(attachment, "text", mime, text, cut)


def image_type(content: bytes) -> str | None:
    """The type of a picture by its first bytes, if models take it."""
    for mime, begins in _PICTURES.items():
        if content.startswith(begins):
            return mime
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None


_PICTURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
}
