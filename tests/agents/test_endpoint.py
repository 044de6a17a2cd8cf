"""What is told of a server that cannot be asked."""

import asyncio

import pytest

from rejoinder.agents.endpoint import Endpoint
from rejoinder.agents.failures import RunFailed

BROKEN = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nno"


@pytest.mark.parametrize("answer", [None, b"", b"NONSENSE\r\n\r\n", BROKEN])
@pytest.mark.parametrize("path", ["", "/turns", "?key=hunter2&of=it"])
async def test_what_an_address_holds_of_keys_is_told_nobody(answer: bytes | None, path: str) -> None:
    """The log gets the reason of a failure, and so may a chat."""

    handlers: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.append(asyncio.current_task())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer or b"")
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    if answer is None:
        listener.close()
        await listener.wait_closed()
    endpoint = Endpoint(f"http://user:hunter2@127.0.0.1:{port}/v1{path}", {})
    with pytest.raises(RunFailed) as told:
        async with await endpoint.post("", {}) as response:
            await response.content.read()
    await endpoint.close()
    listener.close()
    await asyncio.gather(*filter(None, handlers))
    assert f"http://127.0.0.1:{port}/v1" in told.value.failure.detail
    assert "hunter2" not in told.value.failure.detail
    assert told.value.failure.transient


async def test_a_server_that_is_silent_is_named_without_its_login() -> None:
    handlers: list[asyncio.Task[None] | None] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.append(asyncio.current_task())
        await reader.read()
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    endpoint = Endpoint(f"http://user:hunter2@127.0.0.1:{listener.sockets[0].getsockname()[1]}", {})
    with pytest.raises(RunFailed, match="no answer within") as told:
        await endpoint.look("/models", 0.05)
    await endpoint.close()
    listener.close()
    await asyncio.gather(*filter(None, handlers))
    assert "hunter2" not in told.value.failure.detail
