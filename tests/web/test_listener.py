"""Anybody may knock, and nobody stops the gateway by it: half-open connections, floods, bodies that never come."""

import asyncio
import errno
import logging
import socket
from contextlib import AsyncExitStack, suppress
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace
from starlette.requests import ClientDisconnect

from rejoinder import listener
from rejoinder.addresses import counted
from rejoinder.config.programs import ApiSettings, ApiToken
from rejoinder.listener import ConnectionLimits, Listener, OpenConnections
from rejoinder.secret import Secret
from rejoinder.testing.patience import PATIENCE
from rejoinder.web import bodies, guard, server
from rejoinder.web.access_check import AccessCheck
from rejoinder.web.addresses import Addresses
from rejoinder.web.login import Login
from tests.web.running import Site, running, settings

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def knock(site: Site, said: bytes = b"", source: str = "127.0.0.1") -> Ends:
    host, port = site.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), local_addr=(source, 0))
    writer.write(said)
    return reader, writer


async def rest(reader: asyncio.StreamReader) -> bytes:
    """What comes until the other side ends it."""
    async with asyncio.timeout(PATIENCE):
        with suppress(ConnectionResetError):
            return await reader.read()
    return b""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "limits_here", lambda: ConnectionLimits(per_address=4, in_all=6))


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "])
async def test_who_says_nothing_is_put_out(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    """Ten seconds for a header, however slowly its letters come; also for the second one of a connection."""
    monkeypatch.setattr(listener, "HEADER_SECONDS", 0.1)
    async with running(settings()) as site:
        reader, writer = await knock(site, said)
        assert await rest(reader) == b""
        writer.close()
        reader, writer = await knock(site, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.write(said)
        assert await rest(reader)
        writer.close()


async def test_a_flood_of_half_open_connections_shuts_nobody_out(small: None) -> None:
    """They make room for each other and for whoever has something to say, even at the same address, and if they come
    from many addresses."""
    async with running(settings()) as site, site.page() as page:
        sources = (*["127.0.0.1"] * 40, *map("127.0.0.{}".format, range(2, 42)))
        flood = [await knock(site, source=source) for source in sources]
        for _ in range(5):
            assert (await site.get("/health"))[0] == 200
        await page.send(type="say", client="1", room="helper~you", text="Hi")
        await page.hears("Hello.")
        for _, writer in flood:
            writer.close()


async def test_who_is_at_work_is_not_put_out(small: None) -> None:
    """One address has so many connections; one more is refused, and comes in when another has left."""
    async with running(settings()) as site, AsyncExitStack() as stack:
        pages = [await stack.enter_async_context(site.page()) for _ in range(4)]
        reader, writer = await knock(site, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await rest(reader)).startswith(b"HTTP/1.1 503")
        writer.close()
        for page in pages:
            await page.send(type="ping")
            await page.told("pong")
        await pages[0].socket.close()
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(aiohttp.ClientError):
                    if (await site.get("/health", headers={"Connection": "close"}))[0] == 200:
                        break


async def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PAUSE", 0.05)
    token = ApiToken(token=Secret("n8n-canary-0123456789"), chats=("web:helper~you",), agents=("helper",))
    async with running(replace(settings(), api=ApiSettings({"n8n": token}))) as site:
        head = "POST {} HTTP/1.1\r\nHost: localhost\r\nX-Rejoinder: 1\r\nContent-Type: application/json\r\n"
        head += "Authorization: Bearer n8n-canary-0123456789\r\nContent-Length: 100\r\n\r\nabc"
        for path in ("/files?name=x", "/login", "/v1/chat/completions", "/api/messages"):
            reader, writer = await knock(site, head.format(path).encode())
            assert (await rest(reader)).startswith(b"HTTP/1.1 408"), path
            writer.close()


async def test_a_body_that_comes_letter_by_letter_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short its pauses are: anybody may send one, and would keep a connection for long."""
    monkeypatch.setattr(bodies, "HELD_SECONDS", 0.1)
    loop = asyncio.get_running_loop()
    async with running(settings()) as site, asyncio.timeout(PATIENCE):
        host, port = site.url.removeprefix("http://").split(":")
        # A bare socket: a transport whose write fails forgets what has arrived, and the drops that come after the
        # answer do fail.
        with socket.create_connection((host, int(port))) as visitor:
            visitor.setblocking(False)
            head = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
            await loop.sock_sendall(visitor, head)

            async def drip() -> None:
                with suppress(OSError):
                    while True:
                        await loop.sock_sendall(visitor, b"x")
                        await asyncio.sleep(0.01)  # the slowness is the point

            async with asyncio.TaskGroup() as group:
                group.create_task(drip())
                assert (await loop.sock_recv(visitor, 1000)).startswith(b"HTTP/1.1 408")
                with suppress(ConnectionResetError):
                    while await loop.sock_recv(visitor, 1000):
                        pass


async def test_bodies_that_are_read_whole_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many come at once; what they held is free again when they have ended."""
    monkeypatch.setattr(bodies, "MOST_HELD", 1000)
    head = "POST {} HTTP/1.1\r\nHost: localhost\r\nX-Rejoinder: 1\r\nContent-Length: 600\r\n\r\n"
    async with running(settings()) as site:
        for _ in range(2):
            first, holding = await knock(site, head.format("/v1/chat/completions").encode() + b"x" * 599)
            second = b""
            async with asyncio.timeout(PATIENCE):
                while not second.startswith(b"HTTP/1.1 503"):  # until the first one has been read
                    reader, writer = await knock(site, head.format("/v1/chat/completions").encode() + b"x" * 600)
                    second = await reader.readline()
                    assert second.startswith((b"HTTP/1.1 503", b"HTTP/1.1 400"))
                    writer.close()
            assert (await site.post("/files?name=x", data=b"x" * 2000, headers={"X-Rejoinder": "1"}))[0] == 201
            holding.write(b"x")
            assert (await first.readline()).startswith(b"HTTP/1.1 400")
            holding.close()


async def test_an_answer_that_nobody_takes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for a large file and reads nothing of it holds up nothing for long."""
    monkeypatch.setattr(guard, "ANSWER_PAUSE", 0.01)
    ended: list[type[BaseException]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        except ClientDisconnect as gone:
            ended.append(type(gone))
            raise

    async def nothing(*_: object) -> Any:
        await asyncio.Event().wait()

    guarded = guard.Guard(
        app,
        AccessCheck(Login(None), Addresses()),
        ("localhost",),
        lambda _: 100,
        OpenConnections(ConnectionLimits(), lambda _: False),
    )
    scope = {"type": "http", "method": "GET", "path": "/files/x", "headers": [(b"host", b"localhost")], "client": None}
    async with asyncio.timeout(PATIENCE):
        await guarded(scope, nothing, nothing)
    assert ended == [ClientDisconnect]


async def test_whom_a_proxy_serves_is_counted_by_their_own_address(small: None) -> None:
    """And nobody is counted as another by writing more into the header."""
    token = {"Authorization": "Bearer correct horse battery"}

    def by(address: str) -> dict[str, str]:
        return {**token, "X-Forwarded-For": address}

    made = settings(trusted_proxies=("127.0.0.0/8",), token=Secret("correct horse battery"))
    async with running(made) as site, AsyncExitStack() as stack:
        for _ in range(4):
            await stack.enter_async_context(site.page(headers=by("9.9.9.9, 203.0.113.7")))
        assert (await site.get("/health", headers=by("203.0.113.7")))[0] == 429
        assert (await site.get("/health", headers=by("1.1.1.1, 203.0.113.7")))[0] == 429
        assert (await site.get("/health", headers=by("203.0.113.8")))[0] == 200


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("198.51.100.1", "203.0.113.7", "198.51.100.1"),
        ("10.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "203.0.113.7, 10.0.0.2", "203.0.113.7"),
        ("10.0.0.1", "1.2.3.4, 203.0.113.7:4711", "203.0.113.7"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("::ffff:10.0.0.1", "[2001:db8::1]:80", "2001:db8::/64"),
        ("10.0.0.1", "nonsense", "unknown"),
        ("2001:db8::1", "", "2001:db8::/64"),
    ],
)
def test_an_address(peer: str, forwarded: str, found: str) -> None:
    scope = {"client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())] if forwarded else []}
    assert Addresses(("10.0.0.0/8",)).of(scope) == found
    assert counted("2001:db8::2") == "2001:db8::/64"


async def test_no_room_for_a_connection_costs_one_line(caplog: pytest.LogCaptureFixture, monkeypatch) -> None:
    """The system is out of descriptors: said once in a minute; the listener pauses, and opens again by itself."""
    monkeypatch.setattr(listener, "PAUSE", 0.01)
    faults = 50

    class Full(socket.socket):
        def accept(self):
            nonlocal faults
            if faults:
                faults -= 1
                raise OSError(errno.EMFILE, "Too many open files")
            return super().accept()

    came = asyncio.Event()

    class Answering(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            came.set()
            transport.close()

    with Full() as listening, caplog.at_level(logging.INFO):
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.setblocking(False)
        async with asyncio.TaskGroup() as group:
            opened = Listener(
                "The page",
                listening,
                Answering,
                lambda name, work: group.create_task(work),
                OpenConnections(ConnectionLimits(per_address=4), lambda _: False),
            )
            opened.open()
            _, writer = await asyncio.open_connection(*listening.getsockname())
            async with asyncio.timeout(PATIENCE):
                await came.wait()
            opened.close()
            writer.close()
    assert [record.getMessage() for record in caplog.records if record.name == listener.__name__] == [
        "The page cannot accept a connection (Too many open files); it keeps trying."
    ]


async def test_garbage_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """What is no HTTP is answered, and told once in a minute."""
    async with running(settings()) as site:
        for _ in range(5):
            reader, writer = await knock(site, b"\x16\x03\x01 garbage\r\n\r\n")
            assert (await rest(reader)).startswith(b"HTTP/1.1 400")
            writer.close()
    assert len([record for record in caplog.records if "Invalid HTTP" in record.getMessage()]) == 1


def test_descriptors_are_kept_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most half of them are for the page: channels, agents and the store have the rest."""
    for soft, most in ((1024, 512), (200, 100), (4096, 512), (listener.resource.RLIM_INFINITY, 512), (4, 8)):
        monkeypatch.setattr(listener.resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert listener.limits_here() == ConnectionLimits(64, most)
