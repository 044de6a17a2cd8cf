"""What a server gets of a request whose body is there as a whole."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp.base_protocol import BaseProtocol

from rejoinder.channels.http_faults import was_written
from rejoinder.whole_body import WholeBodyRequest

LARGE = pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")  # aiohttp would like a file
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.heard = asyncio.Event()
        self.bodies: list[bytes] = []
        self.connections: list[asyncio.Task[None] | None] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(asyncio.current_task())
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
                self.heads.append(head)
                self.heard.set()
                if b"content-length" in fields:
                    self.bodies.append(await reader.readexactly(int(fields[b"content-length"])))
                else:
                    self.bodies.append(await reader.readuntil(b"0\r\n\r\n"))
                writer.write(ANSWER)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def served(
    request_class: type[aiohttp.ClientRequest] = WholeBodyRequest,
) -> AsyncGenerator[tuple[Server, aiohttp.ClientSession, str]]:
    server = Server()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
    async with aiohttp.ClientSession(request_class=request_class) as session:
        yield server, session, address
    listener.close()
    await asyncio.gather(*filter(None, server.connections))


async def post(session: aiohttp.ClientSession, address: str, body: Any) -> bytes:
    async with session.post(address, data=body, headers={"Content-Type": "application/json"}) as response:
        return await response.read()


@LARGE
async def test_bodies_arrive_whole_over_one_connection() -> None:
    bodies = [b'{"text": "hello"}', b"", b"x" * 3_000_000]
    async with served() as (server, session, address):
        assert [await post(session, address, body) for body in bodies] == [b"ok"] * 3
    assert server.bodies == bodies
    assert all(head.count(b"Content-Length: ") == 1 for head in server.heads)
    assert all(b"Content-Type: application/json\r\n" in head for head in server.heads)


async def test_a_body_that_comes_bit_by_bit_goes_aiohttps_own_way() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"

    async with served() as (server, session, address):
        assert await post(session, address, pieces()) == b"ok"
    assert server.bodies == [b"4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"]


async def test_a_request_without_a_body_has_none() -> None:
    async with served() as (server, session, address), session.post(address) as response:
        assert response.status == 200
    assert server.bodies == [b""]


async def test_behind_a_request_that_is_still_being_written_headers_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BaseProtocol, "writing_paused", property(lambda _: True))
    async with served() as (server, session, address):
        assert await post(session, address, b"body") == b"ok"
    assert server.bodies == [b"body"]


@LARGE
async def test_a_large_body_that_is_answered_early_is_in_nobodys_way() -> None:
    """What comes next takes another connection."""
    over, connections = asyncio.Event(), 0

    async def refuse_unread(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await over.wait()
        writer.close()

    listener = await asyncio.start_server(refuse_unread, "127.0.0.1", 0, limit=1024)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
    async with aiohttp.ClientSession(request_class=WholeBodyRequest) as session:
        assert await post(session, address, b"x" * 8_000_000) == b"ok"
        assert await post(session, address, b"small") == b"ok"
    assert connections == 2
    over.set()
    listener.close()


async def test_who_waits_for_permission_writes_the_headers_first() -> None:
    async with served() as (server, session, address):
        headers = {"Expect": "100-continue", "Content-Type": "application/json"}
        posting = asyncio.create_task(session.post(address, data=b"body", headers=headers).__aenter__())
        await server.heard.wait()
        posting.cancel()
    assert server.heads[0].startswith(b"POST / HTTP/1.1\r\n")


async def test_to_a_connection_that_was_closed_meanwhile_nothing_is_written() -> None:
    class ClosedMeanwhile(WholeBodyRequest):
        async def send(self, conn: Any) -> aiohttp.ClientResponse:
            conn.transport.close()
            return await super().send(conn)

    async with served(ClosedMeanwhile) as (server, session, address):
        with pytest.raises(aiohttp.ClientOSError) as told:
            await post(session, address, b"body")
    assert not was_written(told.value)
    assert server.bodies == []
