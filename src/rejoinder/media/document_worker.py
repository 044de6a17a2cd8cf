"""Reads one document or scales one picture, in its own process that has nothing to lose (ME-11, ME-12).

    python -I -m rejoinder.media.document_worker KIND FILE MEGABYTES SECONDS MOST

Rule 1: the limits come first, then the libraries, then the file: a bad file ends only this process.
Rule 2: there is no network: if the kernel allows it, the process has a namespace without one; sockets never work.
Rule 3: it prints one JSON document: the text and a note on it, or why there is none; a picture is the file `out`.
"""

import importlib.util
import json
import resource
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

MOST_LISTED = 200
"""The most names of an archive."""
MOST_UNPACKED = 100_000_000
"""The most bytes of all files in a DOCX together."""
MOST_PIXELS = 60_000_000
"""The most pixels of a picture that is loaded to be scaled: more than any phone makes."""
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "HEIF")
"""The formats that people send. Pillow knows others, but reads some of them by starting a program (EPS)."""
QUALITY = 85
TOO_LARGE = "it is too large when it is unpacked"
OWN_USER_AND_NETWORK = 0x10000000 | 0x40000000


class UnreadableDocument(Exception):
    """In words that continue "it could not be read: "."""


def limit(megabytes: int, seconds: int) -> None:
    for what, most in (
        (resource.RLIMIT_AS, megabytes << 20),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        with suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def leave_network() -> None:
    import ctypes  # noqa: PLC0415 - only for this
    import socket  # noqa: PLC0415

    def refuse(*_: object, **__: object) -> Any:
        raise OSError("there is no network for a reader of documents")

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).unshare(OWN_USER_AND_NETWORK)
    socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse  # type: ignore[assignment,method-assign]


# --- documents ----------------------------------------------------------------------------------


def read_pdf(path: str, most: int) -> tuple[str, str]:
    needs("pypdf", "PDF")
    from pypdf import PdfReader  # noqa: PLC0415 - after the limits

    reader = PdfReader(path, strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableDocument("it is protected by a password")
    count, size, found = len(reader.pages), 0, list[str]()
    for page in reader.pages:
        text = page.extract_text().strip()
        found.append(text)
        size += len(text)
        if size > most:
            break
    text = "\n\n".join(filter(None, found))
    if not text:
        raise UnreadableDocument("it has no text: its pages are pictures")
    pages = "1 page" if count == 1 else f"{count} pages"
    return text, f"the text of its {pages}" if len(found) == count else f"the text of the first {len(found)} of {pages}"


def read_docx(path: str, most: int) -> tuple[str, str]:
    needs("docx", "DOCX")
    with zipfile.ZipFile(path) as archive:
        if sum(each.file_size for each in archive.infolist()) > MOST_UNPACKED:
            raise UnreadableDocument(TOO_LARGE)
    from docx import Document  # noqa: PLC0415 - after the limits

    pieces, size = list[str](), 0
    for piece in _docx_pieces(Document(path)):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            break
    if not pieces:
        raise UnreadableDocument("there is no text in it")
    return "\n\n".join(pieces), "the text of this document"


def _docx_pieces(document: Any) -> Iterator[str]:
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in block.rows]
            yield "\n".join(f"| {' | '.join(row)} |" for row in rows)
        elif text := block.text.strip():
            style = str(getattr(block.style, "name", ""))
            level = int(style[-1]) if style.startswith("Heading ") and style[-1].isdecimal() else 0
            yield f"{'#' * level} {text}" if level else f"- {text}" if style.startswith("List") else text


def read_html(path: str, most: int) -> tuple[str, str]:
    needs("html2text", "HTML")
    import html2text  # noqa: PLC0415 - after the limits

    reader = html2text.HTML2Text(bodywidth=0)
    reader.ignore_images = True
    text = reader.handle(decoded(path)).strip()
    if not text:
        raise UnreadableDocument("there is no text in it")
    return text, "the text of this page"


def read_text(path: str, most: int) -> tuple[str, str]:
    """Text that is not UTF-8."""
    return decoded(path), "it is not UTF-8: some characters may be wrong"


def decoded(path: str) -> str:
    with open(path, "rb") as file:
        content = file.read()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    with suppress(UnicodeDecodeError):
        return content.decode("utf-8-sig")
    if content.count(b"\0"):
        raise UnreadableDocument("it is not text")
    return content.decode("cp1252", "replace")


# --- archives, which are listed and never unpacked ----------------------------------------------


def list_zip(path: str, most: int) -> tuple[str, str]:
    with zipfile.ZipFile(path) as archive:
        every = archive.infolist()
    listed = [f"{each.filename} ({each.file_size} bytes)" for each in every[:MOST_LISTED]]
    return _listed(listed, len(every))


def list_tar(path: str, most: int) -> tuple[str, str]:
    listed, more = list[str](), False
    with tarfile.open(path, "r:*") as archive:
        for member in archive:
            if len(listed) == MOST_LISTED:
                more = True
                break
            listed.append(f"{member.name} ({member.size} bytes)")
    return _listed(listed, None if more else len(listed))


def _listed(listed: list[str], count: int | None) -> tuple[str, str]:
    if not listed:
        raise UnreadableDocument("it is an empty archive")
    what = f"the first {len(listed)} names" if count != len(listed) else "the names"
    shown = "\n".join(" ".join(name.split()) for name in listed)
    return shown, f"an archive, which is not unpacked: {what} in it"


# --- pictures -----------------------------------------------------------------------------------


def scale(path: str, side: int) -> tuple[str, str]:
    """Writes `out`, with no side longer than `side`; of several pictures the first. Returns its type."""
    needs("PIL", "large pictures")
    from PIL import Image, ImageOps  # noqa: PLC0415 - after the limits

    if importlib.util.find_spec("pillow_heif") is not None:
        importlib.import_module("pillow_heif").register_heif_opener()
    Image.init()
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    try:
        with Image.open(path, formats=[each for each in FORMATS if each in Image.OPEN]) as picture:
            picture.draft("RGB", (side, side))
            shown = ImageOps.exif_transpose(picture)
            shown.thumbnail((side, side))
            clear = "A" in shown.getbands() or "transparency" in shown.info
            shown = shown.convert("RGBA" if clear else "RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise UnreadableDocument("it has too many pixels") from None
    except OSError as problem:
        raise UnreadableDocument("it is not a picture that can be read here") from problem
    shown.save("out", "PNG" if clear else "JPEG", quality=QUALITY)
    return "", "image/png" if clear else "image/jpeg"


READERS: dict[str, Callable[[str, int], tuple[str, str]]] = {
    "pdf": read_pdf,
    "docx": read_docx,
    "html": read_html,
    "text": read_text,
    "zip": list_zip,
    "tar": list_tar,
    "picture": scale,
}


def needs(module: str, what: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise UnreadableDocument(f"{what} cannot be read here: the extra `documents` is not installed")


def main() -> None:
    kind, path, megabytes, seconds, most = sys.argv[1:]
    limit(int(megabytes), int(seconds))
    leave_network()
    sys.setrecursionlimit(2000)
    warnings.simplefilter("ignore")
    try:
        text, note = READERS[kind](path, int(most))
        result = {"text": text[: int(most)] if kind != "picture" else "", "note": note}
    except UnreadableDocument as why:
        result = {"why": str(why)}
    except (MemoryError, RecursionError):
        result = {"why": "it takes too much memory to be read"}
    except Exception as problem:  # noqa: BLE001 - a parser may raise anything
        sys.stderr.write(f"{type(problem).__name__}: {problem}"[:1000])
        bomb = "Limit" in type(problem).__name__  # the name in pypdf
        result = {"why": TOO_LARGE if bomb else "it is damaged, or not what it claims to be"}
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
