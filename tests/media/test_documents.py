"""ME-11, ME-12: documents become text and pictures become smaller, in a process that may fail alone."""

import asyncio
import errno
import os
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from rejoinder.errors import NotUnderstood, TookTooLong
from rejoinder.events import Attachment
from rejoinder.inbound.documents import document_kind, is_animated, picture_side, unread_kind
from rejoinder.media import documents as documents_module
from rejoinder.media.documents import DocumentReader
from rejoinder.media.settings import DocumentSettings
from rejoinder.testing.patience import PATIENCE, until
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
        ("a.docx", documents.bomb(megabytes=100), "too large when it is unpacked"),
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
    with pytest.raises(NotUnderstood, match=r"too long|too much memory|reading it failed"):
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
    with pytest.raises(NotUnderstood, match="not a picture that can be read"):
        await READER.scale("a.heic", b"\0\0\0\x18ftypheic" + bytes(100))


async def test_a_picture_that_moves_becomes_one_that_does_not():
    """ME-12: its first; not every model takes the others."""
    for kind in ("GIF", "PNG", "WEBP"):
        moving = documents.animation(kind)
        assert is_animated(moving), kind
        mime, still = await READER.scale("a", moving)
        assert mime in ("image/jpeg", "image/png")
        assert not is_animated(still)
        assert not is_animated(documents.picture(30, 30, kind)), kind


async def test_a_picture_of_an_iphone_is_converted():
    """ME-12: HEIC, with the library that reads it."""
    mime, converted = await READER.scale("a.heic", documents.heic(3000, 2000))
    assert (mime, picture_side(converted)) == ("image/jpeg", 2000)


async def test_no_program_is_started_for_a_picture(tmp_path, monkeypatch):
    """ME-12: Pillow would give an EPS, whatever it is called, to Ghostscript."""
    ghostscript = tmp_path / "gs"
    ghostscript.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    ghostscript.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n%%EOF\n"
    with pytest.raises(NotUnderstood, match="not a picture that can be read"):
        await READER.scale("a.png", eps)
    assert not (tmp_path / "started").exists()


# --- the process of the reader ------------------------------------------------------------------


ENTITIES = """<?xml version="1.0"?><!DOCTYPE d [{entities}]><w:document
xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Words &{name};</w:t>
</w:r></w:p></w:body></w:document>"""
LAUGHS = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(12))


async def test_entities_lead_nowhere(tmp_path):
    """ME-11: neither to a file of this machine, nor to an address, nor to a billion laughs."""
    secret = tmp_path / "secret"
    secret.write_text("the operator's")
    for entities, name in (
        (f'<!ENTITY x SYSTEM "file://{secret}">', "x"),
        ('<!ENTITY x SYSTEM "http://127.0.0.1:9/">', "x"),
        (LAUGHS, "a12"),
    ):
        content = documents.docx_of(ENTITIES.format(entities=entities, name=name))
        try:
            found = (await read("a.docx", content)).text
        except NotUnderstood as why:
            found = str(why)
        assert "operator" not in found
        assert "haha" not in found


CONNECTS = "_socket.socket().connect(('127.0.0.1', PORT))"
INSIDE = """
import _socket, socket
from rejoinder.media import document_worker as worker

def read(path, most):
    {code}
    return "done", ""

worker.READERS["html"] = read
worker.main()
"""


def may_leave_the_network() -> bool:
    """Some containers do not let a process into a namespace of its own."""
    asked = "import ctypes; raise SystemExit(ctypes.CDLL(None).unshare(0x10000000 | 0x40000000) != 0)"
    return subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("socket.create_connection(('127.0.0.1', PORT))", "damaged"),
        (CONNECTS, "damaged"),
        ("taken = bytes(800 << 20)", "too much memory"),
        ("while True: pass", "too long|reading it failed"),
    ],
    ids=["network", "network past Python's own socket", "memory", "time"],
)
async def test_a_reader_has_no_network_and_limits(monkeypatch, code, why):
    """ME-11: whatever runs in there, as a parser that somebody has taken over would."""
    if code == CONNECTS and not may_leave_the_network():
        pytest.skip("this kernel gives no process a network of its own")
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    script = INSIDE.format(code=code.replace("PORT", str(server.sockets[0].getsockname()[1])))
    run = documents_module.run

    async def instead(command, folder, **more):
        at = command.index("-m")
        return await run([*command[:at], "-c", script, *command[at + 2 :]], folder, **more)

    monkeypatch.setattr(documents_module, "run", instead)
    reader = DocumentReader(DocumentSettings(timeout_s=2 if "while" in code else 60, memory_mb=512))
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(NotUnderstood, match=why):
            await read("a.html", HTML, reader=reader)
    server.close()


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (TookTooLong("it was ended after 2 s"), "it took too long"),
        (NotUnderstood("the program for it wrote too long a text"), "reading it failed"),
    ],
    ids=["its time was over", "its words sound like that"],
)
async def test_only_a_reader_whose_time_was_over_took_too_long(monkeypatch, problem, told):
    """ME-11: the error says so by what it is, and not by its words."""

    async def run(*_, **__):
        raise problem

    monkeypatch.setattr(documents_module, "run", run)
    with pytest.raises(NotUnderstood) as raised:
        await read("a.html", HTML)
    assert str(raised.value) == told


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


async def test_nothing_of_a_document_stays_when_its_reading_is_called_off(tmp_path, monkeypatch):
    """ME-12: a turn is stopped while a large file is being written for its reader."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    writing, goes_on = asyncio.Event(), threading.Event()
    loop, write = asyncio.get_running_loop(), Path.write_bytes

    def slowly(path: Path, content: bytes) -> int:
        loop.call_soon_threadsafe(writing.set)
        goes_on.wait(PATIENCE)
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", slowly)
    task = asyncio.create_task(read("a.pdf", documents.pdf(["Hello"])))
    await writing.wait()
    task.cancel()
    await asyncio.wait({task})
    goes_on.set()
    await until(lambda: not any(tmp_path.iterdir()), "an empty folder")


async def test_nothing_of_a_document_stays_when_the_disk_is_full(tmp_path, monkeypatch):
    """ME-12: each attempt would fill it further."""

    def half(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space"):
        await read("a.pdf", documents.pdf(["Hello"]))
    assert not any(tmp_path.iterdir())
