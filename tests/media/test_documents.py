"""ME-11, ME-12: documents become text and pictures become smaller, in a process that may fail alone."""

import resource

import pytest

from rejoinder.errors import NotUnderstood
from rejoinder.events import Attachment
from rejoinder.inbound.documents import document_kind, picture_side, unread_kind
from rejoinder.media.documents import DocumentReader
from rejoinder.media.settings import DocumentSettings
from tests.media import documents

READER = DocumentReader(DocumentSettings(timeout_s=60))
HTML = b"<html><head><title>T</title><script>evil()</script></head><body><h1>Hello</h1><p>World</p></body></html>"


async def read(name: str, content: bytes, mime: str = "", reader: DocumentReader = READER):
    kind = document_kind(Attachment("1", name, mime), content)
    assert kind is not None
    return await reader.read(kind, name, content)


@pytest.mark.parametrize(
    ("name", "content", "words", "note"),
    [
        ("a.pdf", documents.pdf(["Hello PDF", "Page two"]), ("Hello PDF", "Page two"), "the text of its 2 pages"),
        ("wrong.txt", documents.pdf(["Hello PDF"]), ("Hello PDF",), "the text of its 1 page"),
        ("a.docx", documents.docx(), ("# Plan", "First we think.", "| March | 42 |"), "the text of this document"),
        ("a.html", HTML, ("# Hello", "World"), "the text of this page"),
        ("a.csv", "Größe;Preis\n1;2 €".encode("cp1252"), ("Größe;Preis", "2 €"), "it is not UTF-8"),
        ("a.csv", "Größe;Preis".encode("utf-16"), ("Größe;Preis",), "it is not UTF-8"),
        ("a.zip", documents.zip_of("x/y.txt", "../../etc/passwd"), ("x/y.txt (7 bytes)", "passwd"), "not unpacked"),
        ("a.tgz", documents.tar_of("x/y.txt", "z"), ("x/y.txt (0 bytes)", "z"), "not unpacked"),
        ("many.zip", documents.zip_of(*(f"{n}.txt" for n in range(300))), ("199.txt",), "the first 200 names"),
    ],
)
async def test_what_is_read(name, content, words, note):
    """By what it is, whatever it is called; archives are listed, never unpacked."""
    found = await read(name, content)
    assert all(word in found.text for word in words), found.text
    assert note in found.note
    assert "evil" not in found.text


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.pdf", b"%PDF-1.4\ngarbage", "damaged"),
        ("a.pdf", documents.pdf([""]), "its pages are pictures"),
        ("a.pdf", documents.endless_pdf(100), "too large when it is unpacked"),
        ("a.docx", documents.bomb(), "too large when it is unpacked"),
        ("a.zip", documents.zip_of()[:10] + b"PK\x03\x04" * 9, "damaged"),
        ("a.tgz", b"\x1f\x8b" + bytes(100), "damaged"),
    ],
)
async def test_what_cannot_be_read_says_why(name, content, why):
    content = content if not name.endswith(".zip") else b"PK\x03\x04" + content
    with pytest.raises(NotUnderstood, match=why):
        await read(name, content)


async def test_what_never_ends_is_ended_and_takes_no_memory_of_ours():
    """A page that takes hours, within the limits of its own process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    content = documents.endless_pdf()
    assert len(content) < 5_000_000
    reader = DocumentReader(DocumentSettings(timeout_s=2, memory_mb=300))
    with pytest.raises(NotUnderstood, match=r"too long|too much memory|gave up"):
        await read("endless.pdf", content, reader=reader)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


async def test_a_picture_is_scaled_and_an_impossible_one_is_not_loaded():
    """ME-12: to the longest side that is wanted; a header that promises 100,000 x 100,000 pixels is believed."""
    mime, smaller = await READER.scale("a.jpg", documents.picture(5000, 100))
    assert (mime, picture_side(smaller)) == ("image/jpeg", 2000)
    mime, still = await READER.scale("a.gif", documents.picture(3000, 3000, "GIF"))
    assert (mime, picture_side(still)) == ("image/jpeg", 2000)
    with pytest.raises(NotUnderstood, match="too many pixels"):
        await READER.scale("a.png", documents.huge_picture())
    with pytest.raises(NotUnderstood, match="no picture that can be read"):
        await READER.scale("a.heic", b"\0\0\0\x18ftypheic" + bytes(100))


@pytest.mark.parametrize(
    ("kind", "width", "height"), [("PNG", 30, 20), ("JPEG", 7, 900), ("GIF", 8, 8), ("WEBP", 40, 9)]
)
def test_the_size_of_a_picture_stands_in_its_header(kind, width, height):
    assert picture_side(documents.picture(width, height, kind)) == max(width, height)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [("a.7z", b"7z\xbc\xaf'\x1c...", "7z"), ("a.rar", b"Rar!\x1a\x07\0", "RAR"), ("a.xlsx", b"PK..", "spreadsheet")],
)
def test_what_is_known_and_cannot_be_read_is_named(name, content, what):
    assert what in (unread_kind(Attachment("1", name), content) or "")


@pytest.mark.parametrize("content", [b"plain words", "Größe".encode(), b"{}", b"\0\1\2\3 binary", b""])
def test_plain_text_and_noise_need_no_reader(content):
    assert document_kind(Attachment("1", "a.txt", "text/plain"), content) is None


def test_no_header_breaks_the_measuring():
    for content in (b"\xff\xd8" + b"\xff" * 50, b"\xff\xd8\xff\xc0\0", b"\x89PNG", b"GIF8", b"RIFF0000WEBPVP8X"):
        assert picture_side(content) >= 0
