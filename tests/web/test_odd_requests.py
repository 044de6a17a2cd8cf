"""Whatever comes is answered in order: never a traceback, never an empty page, and the socket goes on."""

import asyncio
import logging
from contextlib import suppress
from random import Random

import pytest

from rejoinder.secret import Secret
from rejoinder.testing.patience import PATIENCE
from tests.web.running import Site, running, settings

DEEP = "[" * 100_000


async def answer_to(site: Site, said: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(*site.url.removeprefix("http://").split(":"))
    writer.write(said)
    async with asyncio.timeout(PATIENCE):
        line = await reader.readline()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return line


def complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]


def request(method: str = "GET", path: bytes = b"/health", *headers: bytes, body: bytes = b"") -> bytes:
    lines = [b"%s %s HTTP/1.1" % (method.encode(), path), b"Host: localhost", b"Connection: close", *headers]
    if body:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (request("POST", b"/login", b"Origin: http://[", body=b"token=x"), 403),
        (request("POST", b"/login", b"Origin: http://[::1", body=b"token=x"), 403),
        (request("POST", b"/login", b"Origin: \xff\xfe", body=b"token=x"), 403),
        (request("POST", b"/login", body=b"token=\xff\xed\xa0\x80"), 303),
        (request("GET", b"/login?token=%ED%A0%80%00%FF"), 303),
        (request("GET", b"/join/%ED%A0%80%00%FF"), 303),
        (request("GET", b"/v1/models", b"Authorization: Bearer \xff\xed\xa0\x80"), 401),
        (request("GET", b"/v1/models", b"Authorization: Bearer"), 401),
        (request("GET", b"/api", b"Cookie: rejoinder_login=\xff.\xff.\xff"), 401),
        (request("GET", b"/api", b"Cookie: rejoinder_login=99999999999999.eW91.00"), 401),
        (request("GET", b"/files/%00%FF", b"Authorization: Bearer token"), 404),
        (request("POST", b"/v1/chat/completions", b"Authorization: Bearer token", body=DEEP.encode()), 400),
        (request("POST", b"/v1/chat/completions", b"Authorization: Bearer token", body=b'{"a":' * 100_000), 400),
        (request("POST", b"/v1/chat/completions", b"Authorization: Bearer token", body=b"\xff\xfe"), 400),
        (request("GET", b"/health", b"Content-Length: " + b"9" * 5000), 400),
        (request("GET", b"/\xff\xfe"), 400),
        (request("GET", b"/health", b"X-Forwarded-For: \xff,,[::"), 200),
    ],
)
async def test_an_odd_request_is_answered(said: bytes, status: int, caplog: pytest.LogCaptureFixture) -> None:
    async with running(settings(token=Secret("token"))) as site:
        assert (await answer_to(site, said)).startswith(b"HTTP/1.1 %d" % status)
        assert (await site.get("/health"))[0] == 200
    assert complaints(caplog) == []


@pytest.mark.parametrize("path", [b"/login", b"/v1/chat/completions", b"/files?name=x"])
async def test_a_body_that_is_broken_off_is_no_failure(path: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever sent it is gone; nothing of it is kept."""
    async with running(settings()) as site, site.page() as page:
        _, writer = await asyncio.open_connection(*site.url.removeprefix("http://").split(":"))
        head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nX-Rejoinder: 1\r\nContent-Length: 900\r\n\r\ntoken=" % path
        writer.write(head)
        await writer.drain()
        assert (await site.get("/health"))[0] == 200  # it has been read by now
        writer.transport.abort()
        await page.send(type="ping")
        await page.told("pong")
    assert complaints(caplog) == []


@pytest.mark.parametrize(
    "frame",
    [
        '{"type": "history", "client": "c", "room": "helper~you", "before": -100000000000000000000}',
        '{"type": "history", "client": "c", "room": "helper~you", "before": 9223372036854775808}',
        '{"type": "history", "client": "c", "room": "helper~you", "before": 1e400}',
        '{"type": "search", "client": "c", "query": "x", "before": 9223372036854775808}',
        '{"type": "read", "room": "helper~you", "seq": 9223372036854775808}',
        '{"type": "read", "room": "helper~you", "seq": -100000000000000000000}',
        '{"type": "ping", "nested": ' + DEEP + "}",
        '{"type": "ping", "nested": ' + DEEP + "]" * 100_000 + "}",
        DEEP,
        '{"type": "say", "client": "c", "room": "\\ud800", "text": "\\ud800"}',
        '{"type": "hello", "protocol": 1}',
    ],
)
async def test_an_odd_frame_is_refused_and_the_socket_goes_on(frame: str, caplog: pytest.LogCaptureFixture) -> None:
    async with running(settings()) as site, site.page() as page:
        await page.socket.send_str(frame)
        await page.told("refused")
        await page.send(type="ping")
        await page.told("pong")
    assert complaints(caplog) == []


async def test_half_an_emoji_is_no_reason_to_refuse_a_message(caplog: pytest.LogCaptureFixture) -> None:
    """OD-4's kind: what a person wrote is taken, the half is shown as the replacement character."""
    async with running(settings()) as site, site.page() as page:
        await page.socket.send_str(r'{"type": "say", "client": "c", "room": "helper~you", "text": "Hi \ud83d you"}')
        await page.told("done", client="c")
        await page.hears("Hello.")
        said = next(frame["message"]["text"] for frame in page.frames if frame["type"] == "message")
        assert said == "Hi \ufffd you"
    assert complaints(caplog) == []


@pytest.mark.parametrize("seq", [2**63, -(10**20), 2**62, -1])
async def test_an_odd_number_in_hello_starts_afresh(seq: int, caplog: pytest.LogCaptureFixture) -> None:
    async with running(settings()) as site, site.page() as page:
        journal = page.frames[0]["journal"]
        async with site.http.ws_connect(site.url + "/socket") as socket:
            await socket.send_str(f'{{"type": "hello", "protocol": 1, "seq": {seq}, "journal": "{journal}"}}')
            assert (await socket.receive_json(timeout=PATIENCE))["resumed"] is False
    assert complaints(caplog) == []


NAMES = (
    b"Origin", b"Cookie", b"Authorization", b"Accept", b"X-Rejoinder", b"Sec-Fetch-Site", b"Content-Type", b"Host",
    b"X-Forwarded-For", b"If-None-Match", b"Upgrade", b"Expect", b"Range",
)  # fmt: skip
PATHS = (b"/", b"/login", b"/files", b"/files/x", b"/api/people/x/invite", b"/v1/models", b"/socket", b"/logout")


async def test_no_request_makes_it_fail(caplog: pytest.LogCaptureFixture) -> None:
    """Any bytes in any place: an answer with a status below 500, and no complaint in the log."""
    chance = Random(7)

    def some(most: int, above: int) -> bytes:
        return bytes(b for b in chance.randbytes(chance.randrange(most)) if b > above and b != 127)

    async with running(settings()) as site:
        for _ in range(300):
            headers = [b"%s: %s" % (name, some(30, 31)) for name in chance.sample(NAMES, chance.randrange(4))]
            method = chance.choice(("GET", "POST", "PUT", "HEAD", "OPTIONS", "X"))
            said = request(method, chance.choice(PATHS) + b"?" + some(20, 32), *headers, body=some(30, -1))
            line = await answer_to(site, said)
            assert line.startswith(b"HTTP/1.1 "), said
            assert int(line.split()[1]) < 500, said
    assert complaints(caplog) == []
