"""Links are read from a hostile server of ours: whatever it does, nothing but public pages is loaded, within limits."""

import asyncio
import gzip
import resource
import socket
import zlib
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from rejoinder.errors import NotUnderstood
from rejoinder.media import guarded_client
from rejoinder.media.addresses import checked, target
from rejoinder.media.links import CommandReader, LinkReader, _decoded, page_reader
from rejoinder.media.settings import LinkSettings
from rejoinder.testing.patience import PATIENCE
from tests.media.hostile import PUBLIC, hostile

PAGE = (
    "<html><head><title>Big &amp; news</title><script>evil()</script></head><body><h1>Hello</h1><p>It works.</p></body>"
)


@asynccontextmanager
async def server(handle, names=None, **settings):
    async with hostile(handle, names) as (guard, connect, seen):
        yield LinkReader(LinkSettings(enabled=True, **settings), guard), connect, seen


def page(body=PAGE, **more):
    async def handle(_):
        return web.Response(**{"body": body, "content_type": "text/html", "charset": "utf-8", **more})

    return handle


def moves(*locations):
    left = list(locations)

    async def handle(_):
        if left:
            return web.Response(status=302, headers={"Location": left.pop(0)})
        return await page()(_)

    return handle


async def unread(reader, url="https://example.org/"):
    with pytest.raises(NotUnderstood) as caught:
        await reader.read(url)
    return str(caught.value)


async def test_a_page_is_read():
    """ME-20: its title and its words as Markdown, without what is hidden; no cookie, no key, no referrer goes along."""
    async with server(page()) as (reader, connect, seen):
        found = await reader.read("https://example.org/a#part")
    assert (found.title, found.text) == ("Big & news", "# Hello\n\nIt works.")
    assert connect.went == [[PUBLIC]]
    assert not {"Cookie", "Authorization", "Referer"} & set(seen[0].headers)


REFUSED = [
    "http://example.org/",
    "ftp://example.org/",
    "file:///etc/passwd",
    "https://user:secret@example.org/",
    "https://@example.org/",
    "https://example.org:8443/",
    "https://example.org:22/",
    "https://localhost/",
    "https://localhost./",
    "https://a.localhost/",
    "https://printer.local/",
    "https://metadata.google.internal/",
    "https://intranet/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.0.0.1.:443/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://255.255.255.255/",
    "https://224.0.0.1/",
    "https://198.18.0.1/",
    "https://192.88.99.1/",
    "https://192.0.0.192/",
    "https://[3fff::1]/",
    "https://[2606:4700::5efe:7f00:1]/",
    "https://[64:ff9b:1::7f00:1]/",
    "https://[::ffff:0:7f00:1]/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[::127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/",
    "https://[fe80::1]/",
    "https://[fe80::1%25eth0]/",
    "https://[fc00::1]/",
    "https://[fec0::1]/",
    "https://[ff02::1]/",
    "https://[2001:db8::1]/",
    "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "https://127。0。0。1/",
    "https://１２７.0.0.1/",
    "https://example.org\\@127.0.0.1/",
    "https://example.org\t.evil/",
    "https:///etc/passwd",
    "https://[::1",
    "https://exa mple.org/",
    "https://example.org/" + "a" * 3000,
    "https://" + "a" * 300 + ".example.org/",
]


@pytest.mark.parametrize("url", REFUSED)
async def test_what_leads_elsewhere_is_refused_in_every_notation(url):
    """ME-21, DE-38: before anything is resolved or connected."""
    async with server(page()) as (reader, connect, seen):
        await unread(reader, url)
    assert (connect.went, seen) == ([], [])


@pytest.mark.parametrize("location", [url for url in REFUSED if ":///" not in url])
async def test_a_redirect_is_checked_as_the_first_link_is(location):
    """ME-21: redirects to loopback and its disguises."""
    async with server(moves(location)) as (reader, _, seen):
        await unread(reader)
    assert len(seen) == 1


async def test_redirects_are_followed_a_few_times():
    """ME-21: to public places, by relative addresses too; not for ever."""
    async with server(moves("/b", "https://other.example.com/c")) as (reader, connect, _):
        assert (await reader.read("https://example.org/a")).text.startswith("# Hello")
        assert len(connect.went) == 3
    async with server(moves(*["/again"] * 50)) as (reader, _, seen):
        assert await unread(reader) == "it has too many redirects"
    assert len(seen) == guarded_client.REDIRECTS + 1


@pytest.mark.parametrize("leads", [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["::1"], ["::ffff:192.168.0.1"], []])
async def test_a_name_that_leads_home_is_refused(leads):
    """ME-21: also if only one of its addresses does."""
    async with server(page(), {"example.org": [leads]}) as (reader, connect, _):
        await unread(reader)
    assert connect.went == []


async def test_a_name_that_changes_is_asked_once():
    """ME-21: DNS rebinding. The connection goes where the check went; the next redirect is checked anew."""
    names = {"example.org": [[PUBLIC], ["127.0.0.1"]]}
    async with server(page(), names) as (reader, connect, _):
        await reader.read("https://example.org/")
        assert connect.went == [[PUBLIC]]
    names = {"example.org": [[PUBLIC], ["127.0.0.1"]]}
    async with server(moves("https://example.org/again"), names) as (reader, connect, _):
        assert await unread(reader) == "it is not on the public internet"
        assert len(connect.went) == 1


async def test_the_connection_is_pinned():
    """DE-38: the connector gets the address that was checked, and asks nobody else."""
    found = await guarded_client._Pinned([PUBLIC], None).resolve("example.org", 443)
    assert [(each["host"], each["port"], each["hostname"]) for each in found] == [(PUBLIC, 443, "example.org")]


async def test_an_endless_body_is_cut():
    """ME-21: memory stays flat, and what came is read."""

    async def endless(request):
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        while True:
            await response.write(b"words and words " * 4096)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with asyncio.timeout(PATIENCE), server(endless, max_bytes=100_000) as (reader, *_):
        assert len((await reader.read("https://example.org/")).text) == 20_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


async def test_a_body_that_never_comes_is_given_up():
    async def hangs(request):
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        await asyncio.Event().wait()

    async with asyncio.timeout(PATIENCE), server(hangs, timeout_s=0.5) as (reader, *_):
        assert await unread(reader) == "it took too long"


def bomb(size=1 << 30):
    """Each block of it is packed by itself, so one does for all; nobody comes to its check sum."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    begins = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return begins + block * (size >> 20) + packer.flush()


async def test_a_gzip_bomb_is_not_unpacked():
    """ME-21: a gigabyte in a megabyte."""
    packed = bomb()
    headers = {"Content-Encoding": "gzip", "Content-Type": "text/plain"}

    async def handle(_):
        return web.Response(body=packed, headers=headers)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with server(handle) as (reader, *_):
        await reader.read("https://example.org/")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000


async def test_packed_pages_are_read():
    headers = {"Content-Encoding": "gzip", "Content-Type": "text/html; charset=latin-1"}
    body = gzip.compress("<p>Grüße</p>".encode("latin-1"))

    async def handle(_):
        return web.Response(body=body, headers=headers)

    async with server(handle) as (reader, *_):
        assert (await reader.read("https://example.org/")).text == "Grüße"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"content_type": "image/png"}, "it is not a page of text"),
        ({"content_type": "application/octet-stream", "charset": None}, "it is not a page of text"),
        ({"status": 404}, "its server says 404"),
        ({"status": 500}, "its server says 500"),
        ({"headers": {"Content-Encoding": "br"}}, "its compression is not supported"),
        ({"headers": {"Content-Encoding": "gzip"}}, "it is broken"),
        ({"body": b"<script>only()</script>"}, "there is no text in it"),
    ],
)
async def test_wrong_types_and_errors_are_sentences(answer, why):
    """ME-21."""
    async with server(page(**answer)) as (reader, *_):
        assert await unread(reader) == why


@pytest.mark.parametrize("charset", ["punycode", "idna", "rot13", "zlib", "unicode_escape", "no-such"])
async def test_a_charset_that_takes_hours_is_not_used(charset):
    """ME-21: the server names it, and Python's own for names of hosts takes quadratic time."""
    body = b"<p>Words</p>" + b"a" * 1_000_000 + b"-" + b"b9" * 400_000
    headers = {"Content-Type": f"text/plain; charset={charset}"}

    async def handle(_):
        return web.Response(body=body, headers=headers)

    async with asyncio.timeout(PATIENCE), server(handle) as (reader, *_):
        assert (await reader.read("https://example.org/")).text.startswith("<p>Words</p>")


@pytest.mark.parametrize(
    ("charset", "text"),
    [("utf-16", "Grüße"), ("shift_jis", "日本"), ("windows-1251", "Привет"), ("gb18030", "中文")],
)
def test_what_pages_are_written_in_is_read(charset, text):
    """ME-20."""
    assert _decoded(text.encode(charset), charset) == text


async def test_nobody_answers():
    async with server(page()) as (reader, connect, _):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            connect.port = taken.getsockname()[1]
            assert await unread(reader) == "it could not be loaded"


async def test_a_program_reads_in_place_of_ours():
    """ME-20: it is given the address as one argument, whatever is in it."""
    settings = LinkSettings(enabled=True, command=("printf", "%s", "{url}"), max_chars=30)
    reader = page_reader(settings)
    assert isinstance(reader, CommandReader)
    assert (await reader.read("https://a.example/;$(x)?q=1 2")).text == "https://a.example/;$(x)?q=1 2"
    assert isinstance(page_reader(LinkSettings(enabled=True)), LinkReader)


def test_public_addresses_are_public():
    assert [str(checked(each)) for each in (PUBLIC, "2606:2800:220:1::1")] == [PUBLIC, "2606:2800:220:1::1"]
    assert target("https://bücher.example.com/x").host == "xn--bcher-kva.example.com"
