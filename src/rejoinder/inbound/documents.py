"""Tells by their bytes which files are readable documents, and how large a picture is. Pure."""

from rejoinder.events import Attachment
from rejoinder.filetypes import HEAD, sniffed
from rejoinder.media_services import DocumentKind

_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_BY_MIME = {
    "application/pdf": "pdf",
    _DOCX: "docx",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/zip": "zip",
    "application/x-zip-compressed": "zip",
    "application/gzip": "tar",
    "application/x-tar": "tar",
    "application/x-compressed-tar": "tar",
}
_BY_ENDING = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".zip": "zip",
    ".tar": "tar",
    ".tgz": "tar",
    ".tar.gz": "tar",
    ".tar.bz2": "tar",
    ".tar.xz": "tar",
}
_OFFICE = {".xlsx": "a spreadsheet", ".pptx": "a presentation", ".odt": "an OpenDocument text", ".ods": "a spreadsheet"}
UNREAD = {
    "application/x-7z-compressed": "a 7z archive, which cannot be listed here",
    "application/vnd.rar": "a RAR archive, which cannot be listed here",
}
_TAR_AT, _TAR = 257, b"ustar"
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")


def claims_document(file: Attachment) -> bool:
    """Whether the file is worth fetching to be read, as far as its name and type tell."""
    return file.mime in _BY_MIME or _ending(file.name) is not None or file.mime.startswith("text/")


def document_kind(file: Attachment, content: bytes) -> DocumentKind | None:
    """How to read the file; None if it is plain text, or cannot be read. Its bytes count more than its name."""
    proven = sniffed(content[:HEAD])
    if proven == "application/pdf" or content[:1024].find(b"%PDF-") > 0:
        return "pdf"
    if proven == "application/zip":
        is_docx = b"word/" in content[:4096] or file.mime == _DOCX or file.name.lower().endswith(".docx")
        return "docx" if is_docx and b"word/" in content else "zip"
    if content[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR or content.startswith(_COMPRESSED):
        return "tar"
    if proven is None and _is_html(file, content):
        return "html"
    return "text" if proven is None and not _is_utf8(content) and _looks_like_text(content) else None


def _is_html(file: Attachment, content: bytes) -> bool:
    head = content[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    claimed = _BY_MIME.get(file.mime) == "html" or _ending(file.name) == "html"
    return head.startswith((b"<!doctype html", b"<html")) or (claimed and b"<" in content[:4096])


def unread_kind(file: Attachment, content: bytes) -> str | None:
    """What the file is, if its format is known but cannot be read."""
    if (known := UNREAD.get(sniffed(content[:HEAD]) or "")) is not None:
        return known
    name = file.name.lower()
    return next((f"{what}, which cannot be read here" for end, what in _OFFICE.items() if name.endswith(end)), None)


def _ending(name: str) -> str | None:
    lower = name.lower()
    return next((kind for ending, kind in _BY_ENDING.items() if lower.endswith(ending)), None)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _looks_like_text(content: bytes) -> bool:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return True
    sample = content[:4096]
    odd = sum((byte < 32 and byte not in (9, 10, 12, 13)) or byte == 127 for byte in sample)
    return not odd and sum(32 <= byte < 127 for byte in sample) > len(sample) * 0.7


# --- pictures -----------------------------------------------------------------------------------


def picture_side(content: bytes) -> int:
    """The longer side of a picture in pixels, from its header; 0 if that does not tell."""
    if content.startswith(b"\x89PNG"):
        return max(int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big"))
    if content.startswith(b"GIF8"):
        return max(int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little"))
    if content.startswith(b"\xff\xd8"):
        return _jpeg_side(content)
    if content[12:16] == b"VP8X":
        return 1 + max(int.from_bytes(content[24:27], "little"), int.from_bytes(content[27:30], "little"))
    if content[12:16] == b"VP8 ":
        return max(int.from_bytes(content[at : at + 2], "little") & 0x3FFF for at in (26, 28))
    if content[12:16] == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        return 1 + max(bits & 0x3FFF, bits >> 14 & 0x3FFF)
    return 0


def is_animated(content: bytes) -> bool:
    """Whether a picture moves: not every model takes one that does."""
    if content.startswith(b"GIF8"):
        return content.count(b"\x21\xf9\x04") > 1 or b"NETSCAPE2.0" in content[:1024]
    if content.startswith(b"\x89PNG"):
        return b"acTL" in content[: content.find(b"IDAT") + 1]
    return content[12:16] == b"VP8X" and bool(content[20] & 0x02)


def _jpeg_side(content: bytes) -> int:
    at = 2
    while at + 9 < len(content) and content[at] == 0xFF:
        marker, size = content[at + 1], int.from_bytes(content[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return max(int.from_bytes(content[at + 5 : at + 7], "big"), int.from_bytes(content[at + 7 : at + 9], "big"))
        at += 2 + max(size, 2) if marker != 0xFF else 1
    return 0
