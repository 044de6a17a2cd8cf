"""What the calls of a platform's API come to when the way to it is at fault."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import pytest

from rejoinder.channels.no_response import NoResponse, NotSent
from rejoinder.channels.slack import api as slack
from rejoinder.channels.telegram import api as telegram
from rejoinder.secret import Secret

TOKEN = Secret("123:secret")


async def calls(root: str, seconds: float) -> AsyncGenerator[Any]:
    """One call of each kind, and what came of it."""
    of_telegram, of_slack = telegram.Api(root, TOKEN, seconds), slack.Api(root, TOKEN, seconds)
    try:
        yield await of_telegram.call("sendMessage", {})
        yield await of_slack.call("chat.postMessage", {})
        yield await of_slack.ask("users.info", {})
    finally:
        await of_telegram.close()
        await of_slack.close()


@asynccontextmanager
async def served(answer: bytes) -> AsyncGenerator[str]:
    handlers: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.append(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await reader.read()
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    listener.close()
    await asyncio.gather(*filter(None, handlers))


async def test_while_the_address_is_looked_for_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """DE-31: name servers that do not answer can take longer than the whole call may; it can be made again."""

    async def silent(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(aiohttp.DefaultResolver, "resolve", silent)
    answers = [answer async for answer in calls("http://platform.example", 0.2)]
    assert [type(answer) for answer in answers] == [NotSent] * 3


async def test_without_a_handshake_nothing_is_written() -> None:
    async with served(b"") as root:
        answers = [answer async for answer in calls(root.replace("http:", "https:"), 0.2)]
    assert [type(answer) for answer in answers] == [NotSent] * 3


async def test_without_an_answer_it_may_have_been_read() -> None:
    async with served(b"") as root:
        answers = [answer async for answer in calls(root, 0.2)]
    assert [type(answer) for answer in answers] == [NoResponse] * 3


async def test_what_a_proxy_says_is_text_in_any_encoding() -> None:
    """It is kept with the message that was not sent."""
    async with served("HTTP/1.1 502 Ungültiges Tor\r\nContent-Length: 2\r\n\r\nno".encode("latin-1")) as root:
        answers = [answer async for answer in calls(root, 5.0)]
    assert [telegram.Refused, slack.Refused, slack.Refused] == [type(answer) for answer in answers]
    said = [getattr(answer, "description", "") or answer.error for answer in answers]
    assert said == ["502 Ung\ufffdltiges Tor"] * 3
