"""Documents and pictures as people send them, and as nobody should."""

import io
import tarfile
import zipfile
import zlib
from collections.abc import Sequence

from tests.peers import missing

PNG = b"\x89PNG\r\n\x1a\n"


def pdf(pages: Sequence[str], *, stream: bytes | None = None) -> bytes:
    """A PDF with one line on each page, or with this compressed stream on each."""
    objects: list[bytes] = []
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects += [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()]
    font = b"<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    for number, line in enumerate(pages):
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * number} 0 R ".encode()
        objects.append(page + b"/Resources << /Font " + font + b" >> >>")
        body = zlib.compress(f"BT /F1 24 Tf 72 700 Td ({line}) Tj ET".encode()) if stream is None else stream
        objects.append(f"<< /Length {len(body)} /Filter /FlateDecode >>\nstream\n".encode() + body + b"\nendstream")
    out, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + each + b"\nendobj\n"
    xref = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n".encode()
    return bytes(out)


def endless_pdf(times: int = 40) -> bytes:
    """A small file whose one page takes hours to be read."""
    piece = b"BT /F1 24 Tf 72 700 Td (all work and no play) Tj ET\n" * 20_000
    packer = zlib.compressobj(9)
    stream = b"".join(packer.compress(piece) for _ in range(times)) + packer.flush()
    return pdf(["x"], stream=stream)


def docx() -> bytes:
    from docx import Document

    document = Document()
    document.add_heading("Plan", 1)
    document.add_paragraph("First we think.")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "March", "42"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def bomb(name: str = "word/document.xml", megabytes: int = 300) -> bytes:
    """A zip of a few hundred kB that is far larger when it is unpacked."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive, archive.open(name, "w") as file:
        for _ in range(megabytes):
            file.write(bytes(1 << 20))
    return out.getvalue()


def zip_of(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return out.getvalue()


def tar_of(*names: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return out.getvalue()


def picture(width: int, height: int, kind: str = "JPEG") -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(out, kind)
    return out.getvalue()


def animation(kind: str, frames: int = 3) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    first, *more = (Image.new("RGB", (40, 30), (50 * number, 80, 80)) for number in range(frames))
    first.save(out, kind, save_all=True, append_images=more, duration=100)
    return out.getvalue()


def heic(width: int, height: int) -> bytes:
    from PIL import Image

    try:
        import pillow_heif
    except ImportError:
        missing("no pillow-heif here (it is among the packages of `dev`)")
    out = io.BytesIO()
    pillow_heif.from_pillow(Image.new("RGB", (width, height), "teal")).save(out)
    return out.getvalue()


def docx_of(xml: str) -> bytes:
    """A DOCX with this in place of its document."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(docx())) as old, zipfile.ZipFile(out, "w") as new:
        for each in old.infolist():
            new.writestr(each, xml if each.filename == "word/document.xml" else old.read(each))
    return out.getvalue()


def huge_picture(side: int = 100_000) -> bytes:
    """A PNG whose header promises more pixels than fit into any memory."""
    head = side.to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
    return PNG + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(bytes(10_000))) + _chunk(b"IEND", b"")


def _chunk(name: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")


def bad_files() -> dict[str, tuple[str, int | None, bytes]]:
    """What nobody should send: a name, the size that the platform tells, and the content."""
    return {
        "a document of 2 GB": ("novel.pdf", 2 << 30, b""),
        "2 GB, and nobody says so": ("novel.txt", None, b""),
        "a zip bomb": ("bomb.zip", None, bomb("zeros.bin", 100)),
        "a DOCX that is a bomb": ("bomb.docx", None, bomb()),
        "a PDF that never ends": ("endless.pdf", None, endless_pdf()),
        "100000 x 100000 pixels": ("huge.png", None, huge_picture()),
        "a codec nobody has": ("film.heic", None, b"\0\0\0\x18ftypheic" + bytes(1000)),
        "a picture that is a page": ("cat.png", None, b"<html><body>meow</body></html>"),
        "a PDF that is an archive": ("plan.pdf", None, zip_of("a.txt")),
        "no bytes at all": ("empty.pdf", 0, b""),
        "a name with tricks": ("../../\u202etxt.exe\n\x1b[31m.pdf", None, b"%PDF-1.4 nothing"),
    }
