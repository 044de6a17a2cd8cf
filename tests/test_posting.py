"""What a server gets of a small request that is repeated, and what becomes of its connection."""

import asyncio
import gzip
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from rejoinder.channels.http_client import read_all
from rejoinder.channels.http_faults import was_written
from rejoinder.posting import SMALL, Poster

LARGE = pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")  # aiohttp would like a file
JSON = {"Content-Type": "application/json"}
PATIENT = aiohttp.ClientTimeout(total=None, sock_connect=5.0)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Answers each request of a connection with the next of its answers, and with the last one from then on."""

    def __init__(self, *answers: bytes) -> None:
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.connections: list[asyncio.Task[None] | None] = []
        self._answers = answers or (ANSWER,)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(asyncio.current_task())
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
                self.heads.append(head)
                self.bodies.append(await reader.readexactly(int(fields[b"content-length"])))
                answer = self._answers[min(len(self.bodies), len(self._answers)) - 1]
                writer.write(answer)
                if b"Content-Length" not in answer:
                    break
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def served(*answers: bytes, headers: dict[str, str] = JSON) -> AsyncGenerator[tuple[Server, Poster, str]]:
    server = Server(*answers)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/path?of=it"
    async with aiohttp.ClientSession(headers=headers, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield server, Poster(session), address
    listener.close()
    await asyncio.gather(*filter(None, server.connections))


async def post(poster: Poster, address: str, body: bytes = b"{}") -> bytes:
    return await read_all(await poster.post(address, body, PATIENT))


# --- what is written ----------------------------------------------------------------------------


@LARGE
async def test_bodies_arrive_whole_over_one_connection() -> None:
    """A large one goes aiohttp's own way, and leaves its connection to the next."""
    bodies = [b'{"text": "hello"}', b"", "Grüße".encode(), b"x" * SMALL, b"x" * 3_000_000, b"last"]
    async with served() as (server, poster, address):
        assert [await post(poster, address, body) for body in bodies] == [b"ok"] * len(bodies)
    assert server.bodies == bodies
    assert len(server.connections) == 1


@LARGE
async def test_a_request_has_the_headers_that_aiohttp_would_write() -> None:
    async with served(headers={**JSON, "X-Own": "Grüße"}) as (server, poster, address):
        await post(poster, address, b"abc")
        async with poster.session.post(address, data=b"abc") as response:
            await response.read()
    ours, theirs = (sorted(head.split(b"\r\n")) for head in server.heads)
    assert ours == theirs


async def test_who_waits_for_permission_writes_the_body_only_then() -> None:
    """`Expect` is one of the headers that are left to aiohttp."""
    bodies: list[bytes] = []

    async def permit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        bodies.append((await reader.read(SMALL)).partition(b"\r\n\r\n")[2])
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        bodies.append(await reader.readexactly(2))
        writer.write(ANSWER)
        writer.close()

    listener = await asyncio.start_server(permit, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
    async with aiohttp.ClientSession(headers={"Expect": "100-continue"}) as session:
        assert await post(Poster(session), address) == b"ok"
    listener.close()
    assert bodies == [b"", b"{}"]


async def test_behind_a_proxy_the_whole_address_is_asked_for() -> None:
    async with served() as (server, _, proxy), aiohttp.ClientSession(proxy=proxy) as session:
        assert await post(Poster(session, has_proxy=True), "http://elsewhere.example/path") == b"ok"
    assert server.heads[0].startswith(b"POST http://elsewhere.example/path HTTP/1.1\r\n")


@pytest.mark.parametrize("address", ["", "nowhere", "ftp://127.0.0.1/", "http://[::1/", "http:///path"])
async def test_what_is_no_address_fails_as_in_the_session(address: str) -> None:
    async with served() as (_, poster, _), aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError) as ours:
            await poster.post(address, b"{}", PATIENT)
        with pytest.raises(aiohttp.ClientError) as theirs:
            await session.post(address, data=b"{}")
    assert (type(ours.value), str(ours.value)) == (type(theirs.value), str(theirs.value))


async def test_a_login_in_the_address_is_sent_and_shown_nowhere() -> None:
    """In no error, either: they name the address."""
    async with served(ANSWER, b"NONSENSE Content-Length\r\n\r\n") as (server, poster, address):
        with_login = address.replace("//", "//user:password@")
        response = await poster.post(with_login, b"{}", PATIENT)
        assert (str(response.url), await read_all(response)) == (address, b"ok")
        with pytest.raises(aiohttp.ClientResponseError) as told:
            await poster.post(with_login, b"{}", PATIENT)
    assert b"\r\nAuthorization: Basic dXNlcjpwYXNzd29yZA==\r\n" in server.heads[0]
    assert "password" not in str(told.value)


async def test_a_login_in_the_address_does_not_replace_the_one_in_the_headers() -> None:
    async with served(headers={"Authorization": "Bearer token"}) as (server, poster, address):
        with pytest.raises(ValueError, match="AUTHORIZATION"):
            await poster.post(address.replace("//", "//user:password@"), b"{}", PATIENT)
    assert server.heads == []


async def test_a_header_that_cannot_be_written_is_left_to_aiohttp() -> None:
    """One from the environment may have bytes that are no text."""
    async with served(headers={**JSON, "X-Own": "a\udcffb"}) as (_, poster, address):
        assert await post(poster, address) == b"ok"


async def test_no_header_can_smuggle_in_another_line() -> None:
    async with served(headers={"X-Own": "a\r\nX-Other: b"}) as (server, poster, address):
        with pytest.raises(ValueError, match=r"header"):
            await poster.post(address, b"{}", PATIENT)
    assert server.heads == []


# --- what is read -------------------------------------------------------------------------------


async def test_a_word_in_between_is_no_answer() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    async with served(early + ANSWER) as (_, poster, address):
        response = await poster.post(address, b"{}", PATIENT)
        assert (response.status, response.reason, await read_all(response)) == (200, "OK", b"ok")


async def test_a_status_below_all_others_is_an_answer() -> None:
    async with served(ANSWER.replace(b"200", b"099")) as (_, poster, address), asyncio.timeout(5):
        response = await poster.post(address, b"{}", PATIENT)
        assert (response.status, await read_all(response)) == (99, b"ok")


async def test_an_answer_may_be_compressed_or_empty_or_end_with_its_connection() -> None:
    nothing = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"
    body = gzip.compress(b"packed")
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    async with served(nothing, packed, b"HTTP/1.1 200 OK\r\n\r\nto the end", ANSWER) as (server, poster, address):
        assert [await post(poster, address) for _ in range(4)] == [b"", b"packed", b"to the end", b"ok"]
    assert len(server.connections) == 2


async def test_what_is_no_http_is_a_failure_that_was_written() -> None:
    async with served(b"NONSENSE Content-Length\r\n\r\n") as (_, poster, address):
        with pytest.raises(aiohttp.ClientResponseError) as told:
            await poster.post(address, b"{}", PATIENT)
    assert was_written(told.value)


async def test_a_response_that_is_closed_wakes_its_reader_and_its_connection_is_not_used_again() -> None:
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
    async with served(half, ANSWER) as (server, poster, address):
        response = await poster.post(address, b"{}", PATIENT)
        assert await response.content.readany() == b"half"
        reading = asyncio.ensure_future(response.content.readany())
        await asyncio.sleep(0)
        response.close()
        with pytest.raises(aiohttp.ClientConnectionError):
            await reading
        assert response.closed
        assert await post(poster, address) == b"ok"
    assert len(server.connections) == 2


async def test_who_gives_up_waiting_leaves_no_connection_behind() -> None:
    waiting = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        waiting.set()
        assert await reader.read() == b""  # the other side has closed it
        writer.close()

    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
    async with aiohttp.ClientSession() as session:
        asking = asyncio.ensure_future(Poster(session).post(address, b"{}", PATIENT))
        await waiting.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    listener.close()
    await listener.wait_closed()


# --- what was written of a request that failed ------------------------------------------------------


async def test_to_a_connection_that_was_closed_meanwhile_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = aiohttp.TCPConnector.connect

    async def closed_meanwhile(*args: Any) -> Any:
        connection = await connect(*args)
        assert connection.transport is not None
        connection.transport.close()
        return connection

    async with served() as (server, poster, address):
        monkeypatch.setattr(aiohttp.TCPConnector, "connect", closed_meanwhile)
        with pytest.raises(aiohttp.ClientOSError) as told:
            await poster.post(address, b"{}", PATIENT)
    assert not was_written(told.value)
    assert server.bodies == []


async def test_where_nobody_listens_nothing_is_written() -> None:
    async with served() as (_, _, address):
        pass
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError) as told:
            await Poster(session).post(address, b"{}", PATIENT)
    assert not was_written(told.value)


async def test_a_connection_that_breaks_after_the_request_may_have_brought_it() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.close()

    listener = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ServerDisconnectedError) as told:
            await Poster(session).post(address, b"{}", PATIENT)
    listener.close()
    assert was_written(told.value)


class Chatty:
    """Answers the first request of each connection in two parts, and keeps what comes after it."""

    def __init__(self, first: bytes, second: bytes) -> None:
        self.rest = asyncio.Event()
        self.further: list[bytes] = []
        self.connections: list[asyncio.Task[None] | None] = []
        self._first, self._second = first, second

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(asyncio.current_task())
        await reader.readuntil(b"{}")
        writer.write(self._first)
        await self.rest.wait()
        writer.write(self._second)
        self.further.append(await reader.read())
        writer.close()
        await writer.wait_closed()


UNASKED = ANSWER.replace(b"ok", b"no")


@pytest.mark.parametrize(
    ("first", "second"), [(ANSWER[:-2], b"ok" + UNASKED), (ANSWER, UNASKED), (ANSWER, UNASKED[:-1])]
)
async def test_what_comes_unasked_is_never_taken_for_the_next_answer(first: bytes, second: bytes) -> None:
    """It may come with the last bytes of an answer, when the connection has already been given back, or later."""
    server = Chatty(first, second)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
    async with aiohttp.ClientSession() as session:
        poster = Poster(session)
        response = await poster.post(address, b"{}", PATIENT)
        server.rest.set()
        assert await read_all(response) == b"ok"
        await asyncio.sleep(0.05)
        with pytest.raises(aiohttp.ClientOSError) as told:
            await poster.post(address, b"never", PATIENT)
        assert not was_written(told.value)
        assert await post(poster, address) == b"ok"
    listener.close()
    await asyncio.gather(*filter(None, server.connections))
    assert server.further == [b"", b""]


async def test_who_cannot_connect_in_time_has_written_nothing() -> None:
    """A queue of one, which is full: the next connection is not accepted."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, socket.socket() as first:
        first.connect(listener.getsockname())
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ConnectionTimeoutError) as told:
                await Poster(session).post(address, b"{}", aiohttp.ClientTimeout(total=None, sock_connect=0.1))
    assert not was_written(told.value)
