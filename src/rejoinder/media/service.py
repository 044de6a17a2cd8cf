"""One request to a speech service, with limits on the answer and a sentence for every failure."""

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp

from rejoinder.errors import NotUnderstood
from rejoinder.secret import Secret

CONNECT_SECONDS = 10.0
SHOWN = 300
_REFUSED = (401, 403)


async def post(url: str, key: Secret | None, body: Callable[[], dict[str, Any]], *, seconds: float, most: int) -> bytes:
    """`body`: makes the arguments of the request, whose data can be used only once. Raises `NotUnderstood`."""
    headers = {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
    try:
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession(headers=headers, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.post(url, allow_redirects=False, **body()) as response,
        ):
            content = await _beginning(response, most)
            status = response.status
    except TimeoutError:
        raise NotUnderstood("the speech service did not answer in time", f"{url}: {seconds:.0f} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as problem:
        detail = f"{url}: {type(problem).__name__}: {problem}"
        raise NotUnderstood("the speech service cannot be reached", _without(detail, key)) from None
    if status in _REFUSED:
        raise NotUnderstood("the speech service refused the request", f"{url}: status {status}: check its api_key")
    if not 200 <= status < 300:
        shown = content[:SHOWN].decode("utf-8", "replace")
        raise NotUnderstood("the speech service failed", _without(f"{url}: status {status}: {shown}", key))
    if len(content) > most:
        raise NotUnderstood("the answer of the speech service was too long", f"{url}: more than {most} bytes")
    return content


async def _beginning(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The whole body, or a little more than `most` bytes of it."""
    pieces: list[bytes] = []
    size = 0
    async for piece in response.content.iter_chunked(64 << 10):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            break
    return b"".join(pieces)


def _without(detail: str, key: Secret | None) -> str:
    return detail if key is None or not key.reveal() else detail.replace(key.reveal(), "***")
