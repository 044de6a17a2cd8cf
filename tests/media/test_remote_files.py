"""OD-58, DE-38: a file at an address is loaded from a hostile server of ours as a linked page is."""

import asyncio
import gzip
import resource
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from rejoinder.errors import FileRefused
from rejoinder.media.remote_files import RemoteFiles
from rejoinder.media.settings import LinkSettings
from rejoinder.testing.patience import PATIENCE
from tests.media.hostile import hostile
from tests.media.test_links import REFUSED, bomb, moves

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 200
LIMIT = 1_000_000


@asynccontextmanager
async def server(handle, names=None, **settings):
    async with hostile(handle, names) as (guard, connect, seen):
        yield RemoteFiles(LinkSettings(enabled=True, **settings), guard), connect, seen


def gives(body=PICTURE, **headers):
    async def handle(_):
        return web.Response(body=body, headers={each.replace("_", "-"): value for each, value in headers.items()})

    return handle


async def loaded(files, address="https://a.example/pictures/a.png", limit=LIMIT):
    async with files.open(address, limit) as file:
        return file.name, file.mime, b"".join([piece async for piece in file.pieces])


async def refused(files, address="https://a.example/a.png", limit=LIMIT):
    with pytest.raises(FileRefused) as caught:
        await loaded(files, address, limit)
    return str(caught.value)


async def test_a_file_is_loaded_whole():
    async with server(gives()) as (files, _, seen):
        assert await loaded(files) == ("a.png", "image/png", PICTURE)
    assert not {"Cookie", "Authorization", "Referer"} & set(seen[0].headers)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://a.example/x%2F..%2F..%2Fetc%2Fpasswd", "passwd.png"),
        ("https://a.example/a%0Ab%E2%80%AEgnp.exe", "a_b_gnp.exe"),
        ("https://a.example/..%5C..%5Cb.png", "b.png"),
        ("https://a.example/", "a.example"),
        ("https://a.example/picture?name=b.gif", "picture.png"),
        ("https://a.example/%00.png", "_.png"),
    ],
)
async def test_its_name_is_the_end_of_its_address(address, name):
    """DE-37: no path, no newline, no character that turns the order round; its bytes say what it is."""
    async with server(gives()) as (files, *_):
        assert (await loaded(files, address))[:2] == (name, "image/png")


@pytest.mark.parametrize("address", REFUSED)
async def test_nothing_but_the_public_internet(address):
    """DE-38: refused in every notation, before anything is connected."""
    async with server(gives()) as (files, connect, seen):
        await refused(files, address)
    assert (connect.went, seen) == ([], [])


@pytest.mark.parametrize(
    "location", ["http://a.example/b.png", "https://169.254.169.254/", "https://[::ffff:a9fe:a9fe]/"]
)
async def test_redirects_are_checked(location):
    async with server(moves(location)) as (files, _, seen):
        await refused(files)
    assert len(seen) == 1


async def test_a_name_that_changes_is_asked_once():
    """DE-38: DNS rebinding."""
    async with server(gives(), {"a.example": [["93.184.216.34"], ["10.0.0.1"]]}) as (files, connect, _):
        await loaded(files)
        assert connect.went == [["93.184.216.34"]]
        assert "is not on the public internet" in await refused(files)


async def test_what_is_too_large_is_refused_before_it_is_read_or_as_soon_as_it_is():
    """CH-11: announced or not, packed or not; memory stays flat."""

    async def endless(request):
        response = web.StreamResponse(headers={"Content-Type": "image/png"})
        await response.prepare(request)
        while True:
            await response.write(PICTURE)

    packed = bomb()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for handle in (gives(), endless, gives(packed, Content_Encoding="gzip")):
        async with asyncio.timeout(PATIENCE), server(handle) as (files, *_):
            assert "larger than the 10 kB that can be sent" in await refused(files, limit=10_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000


async def test_a_slow_drip_is_given_up():
    """DE-38: time has a limit for all of it, however steadily it comes."""

    async def drips(request):
        response = web.StreamResponse(headers={"Content-Type": "image/png"})
        await response.prepare(request)
        for byte in PICTURE:
            await response.write(bytes([byte]))
            await asyncio.sleep(0.02)
        return response

    async with asyncio.timeout(PATIENCE), server(drips, timeout_s=0.5) as (files, *_):
        assert "it took too long" in await refused(files)


async def test_half_a_file_is_no_file():
    async def breaks_off(request):
        response = web.StreamResponse(headers={"Content-Type": "image/png", "Content-Length": str(len(PICTURE))})
        await response.prepare(request)
        await response.write(PICTURE[:-100])
        request.transport.close()
        return response

    async with server(breaks_off) as (files, *_):
        assert "it could not be loaded" in await refused(files)
    async with server(gives(gzip.compress(PICTURE)[:-10], Content_Encoding="gzip")) as (files, *_):
        assert "it is broken" in await refused(files)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (gives(b"<p>Not found</p>", Content_Type="text/html"), "there is a page at this address, not a file"),
        (gives(b""), "it is empty"),
        (gives(PICTURE, Content_Encoding="br"), "its compression is not supported"),
    ],
)
async def test_what_is_no_file_is_a_sentence(answer, why):
    async with server(answer) as (files, *_):
        assert await refused(files) == f"https://a.example/a.png cannot be sent: {why}"


async def test_a_type_that_lies_is_not_believed():
    """ME-10: what claims to be a picture and is none is sent as a document."""
    async with server(gives(b"MZ\x90\x00 no picture", Content_Type="image/png")) as (files, *_):
        assert (await loaded(files))[:2] == ("a.png", "application/octet-stream")
