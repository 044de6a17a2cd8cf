"""Tells the kind of a file by its first bytes and its name, and says which files a platform takes (ME-10)."""

import re
import unicodedata
from mimetypes import guess_type

from msgspec import Struct

from rejoinder.events import FileKind

BYTES = "application/octet-stream"
LONGEST_NAME = 120
"""The most characters of a file's name; a longer name is cut before its extension."""
HEAD = 64
"""How many bytes from the beginning of a file are enough to tell its type."""


class FileLimits(Struct, frozen=True):
    """Which files a platform takes. A channel declares it (`ChannelKind.files`), and the agent is told."""

    size: int
    """The most bytes of one file."""
    by_kind: dict[FileKind, int] = {}
    """Lower limits of some kinds: a larger file of such a kind is sent as a document."""
    album: int = 1
    """The most files in one message."""
    together: tuple[frozenset[FileKind], ...] = ()
    """The kinds that may share a message; empty: any."""
    caption: int | None = None
    """The length limit of text sent with a file, if it differs from that of other messages."""

    def kind_for(self, kind: FileKind, size: int) -> FileKind:
        return "document" if size > self.by_kind.get(kind, self.size) else kind

    def may_join(self, kinds: tuple[FileKind, ...], kind: FileKind) -> bool:
        """Whether a file of this kind fits into a message that holds these."""
        if len(kinds) >= self.album:
            return False
        return not self.together or any(kind in group and group.issuperset(kinds) for group in self.together)


def in_words(size: int) -> str:
    """A number of bytes in words."""
    for unit, name in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size} bytes"


# --- by their bytes -----------------------------------------------------------------------------

_BEGINS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf'\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_FTYP = {
    b"M4A ": "audio/mp4",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heic",
    b"avif": "image/avif",
}
_SHOWN_BY_BYTES = ("image", "audio", "video")


def sniffed(head: bytes) -> str | None:
    """The type that the first bytes prove; None if they prove none."""
    for begins, mime in _BEGINS:
        if head.startswith(begins):
            return mime
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _FTYP.get(head[8:12], "video/mp4")
    if head[:4] == b"PK\x03\x04" or head[:4] == b"PK\x05\x06":
        return "application/zip"
    return "audio/mpeg" if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2 else None


def mime_of(name: str, head: bytes) -> str:
    """The type by the first bytes, or by the name if they prove none. The name alone never makes it a picture, a sound
    or a video: a platform that displays these would refuse the file."""
    proven, named = sniffed(head), guess_type(name, strict=False)[0]
    if proven == "application/zip" and named is not None and named.partition("/")[0] == "application":
        return named  # DOCX, EPUB, JAR and others are archives by their bytes
    if proven == "video/webm" and named == "audio/webm":
        return named
    if proven is not None:
        return proven
    if named is None or named.partition("/")[0] in _SHOWN_BY_BYTES:
        return "image/svg+xml" if named == "image/svg+xml" else BYTES
    return named


_KINDS: dict[str, FileKind] = {
    "image/png": "photo",
    "image/jpeg": "photo",
    "image/webp": "photo",
    "video/mp4": "video",
    "audio/mpeg": "audio",
    "audio/mp4": "audio",
    "audio/ogg": "audio",
    "audio/flac": "audio",
    "audio/wav": "audio",
}
_ASKED: dict[str, tuple[FileKind, str]] = {
    "image": ("photo", "image/"),
    "photo": ("photo", "image/"),
    "video": ("video", "video/"),
    "audio": ("audio", "audio/"),
    "voice": ("voice", "audio/"),
}


def kind_of(mime: str, asked: str | None = None) -> FileKind:
    """The kind as which a file is shown. `asked`: the kind the agent wants, used if the bytes allow it."""
    if asked in _ASKED:
        kind, prefix = _ASKED[asked]
        if mime.startswith(prefix) and (kind != "photo" or _KINDS.get(mime) == "photo"):
            return kind
    elif asked in ("file", "document"):
        return "document"
    return _KINDS.get(mime, "document")


# --- names --------------------------------------------------------------------------------------

_SPLITS = re.compile(r"[/\\]")


_JOINERS = "\u200c\u200d"  # in emoji and in the words of some languages


def _is_odd(character: str) -> bool:
    return character in '"<>|:*?' or (unicodedata.category(character)[0] == "C" and character not in _JOINERS)


def safe_name(name: str) -> str:
    """The last step of a path, without characters that break a line or a header, or change the direction of text."""
    last = _SPLITS.split(name)[-1]
    shown = "".join("_" if _is_odd(each) else each for each in last)
    shown = " ".join(shown.split()).strip(". ")
    if len(shown) > LONGEST_NAME:
        stem, dot, end = shown.rpartition(".")
        keep = f"{dot}{end}" if dot and len(end) <= 10 else ""
        shown = (stem if keep else shown)[: LONGEST_NAME - len(keep)] + keep
    return shown or "file"
