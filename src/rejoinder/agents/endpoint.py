"""The one place where agents speak HTTP: POST a body, get bytes back, and every error as a Failed."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any, TypeVar

import aiohttp
import msgspec

from rejoinder.agents.failures import RunFailed, failed, failed_response, too_many_open
from rejoinder.agents.lines import LINE_LIMIT
from rejoinder.agents.sse import EventTooLong, ServerEvent, ServerEventReader
from rejoinder.open_files import has_too_many_open
from rejoinder.posting import HttpResponse, Poster
from rejoinder.unicode_repair import from_json

T = TypeVar("T")

CONNECT_SECONDS = 4.5
"""Seconds for each of two attempts (TU-22). With the pause between them, an unreachable address is reported within ten
seconds. In this time the operating system sends three SYNs."""
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
"""A timeout only for connecting: idle and hard timeouts belong to the run, which knows what it waits for."""
ERROR_BODY_BYTES = 64 << 10
LOOKED_AT_BYTES = 1 << 20
CHUNK_BYTES = 16 << 10
"""Bytes of a stream to read in one go: a few hundred events, which take some milliseconds."""
CHECK_SECONDS = 15.0
_LOGIN = re.compile(r"(?<=://)[^/?#\s'\"]*@")
_QUERY = re.compile(r"(?<=://)([^?\s'\"]*\?)[^\s'\"]+")


class Endpoint:
    """A server we send turns to. Connections are kept for the next turn until `close`."""

    def __init__(self, base_url: str, headers: dict[str, str], secret: str = "") -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = headers
        self.secret = secret
        self._poster: Poster | None = None

    async def post(self, path: str, body: Any) -> "PostedRequest":
        """The response of a successful request; raises RunFailed with the classified reason for any other."""
        url = self._base_url + path
        try:
            response = await self.send(url, msgspec.json.encode(body))
            if 200 <= response.status < 300:
                return PostedRequest(url, response)
            try:
                said = await response.content.read(ERROR_BODY_BYTES)
            finally:
                response.close()
        except MISHAPS as problem:
            raise _failure(url, problem) from problem
        raise self.refusal(response.status, said, response.headers)

    async def send(self, url: str, body: bytes) -> HttpResponse:
        """A connection kept from the last turn may have been closed meanwhile, which shows only when it is used.

        So a kept connection that breaks before the response begins gets one retry. If a new connection breaks, the
        caller decides whether to retry.
        """
        poster = self._opened()
        if _is_new.get():
            _is_new.set(False)
        try:
            return await poster.post(url, body, TIMEOUT)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if _is_new.get():
                raise
            return await poster.post(url, body, TIMEOUT)

    async def look(self, path: str, seconds: float) -> tuple[int, bytes]:
        """The status and the beginning of the body; raises RunFailed when there is no answer."""
        url = self._base_url + path
        try:
            async with asyncio.timeout(seconds), self._opened().session.get(url, allow_redirects=False) as response:
                return response.status, await response.content.read(LOOKED_AT_BYTES)
        except TimeoutError:
            raise RunFailed(failed("timeout", _without_secrets(f"{url}: no answer within {seconds:.0f} s"))) from None
        except MISHAPS as problem:
            raise _failure(url, problem) from problem

    def refusal(self, status: int, said: bytes, headers: Mapping[str, str]) -> RunFailed:
        return RunFailed(failed_response(status, said.decode("utf-8", "replace"), headers, self.secret))

    def _opened(self) -> Poster:
        if self._poster is None:
            session = aiohttp.ClientSession(
                headers={"Content-Type": "application/json", **self._headers},
                timeout=TIMEOUT,
                cookie_jar=aiohttp.DummyCookieJar(),  # a turn leaves nothing behind for the next one
                # The number of concurrent runs is limited elsewhere; a queue here would only hide that.
                connector=_Connector(limit=0),
            )
            self._poster = Poster(session)
        return self._poster

    async def close(self) -> None:
        if self._poster is not None:
            await self._poster.session.close()
            self._poster = None


_is_new: ContextVar[bool] = ContextVar("_is_new", default=False)
"""Whether the request of this task has made a new connection."""


class _Connector(aiohttp.TCPConnector):
    """Notes that a connection was made. A trace of aiohttp would do so, too, but cost each request a few dozen
    calls."""

    async def _create_connection(
        self,
        req: Any,
        traces: Any,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - aiohttp's name
    ) -> Any:
        _is_new.set(True)
        return await super()._create_connection(req, traces, timeout)


class PostedRequest:
    """A request that was accepted; inside its `async with` block every error of the response is a RunFailed."""

    def __init__(self, url: str, response: HttpResponse) -> None:
        self._url = url
        self._response = response

    async def __aenter__(self) -> HttpResponse:
        return self._response

    async def __aexit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: Any) -> None:
        if not self._response.closed:  # a response that was read to its end has returned its connection by itself
            self._response.close()
        if isinstance(problem, MISHAPS):
            raise _failure(self._url, problem) from problem


MISHAPS = (aiohttp.ClientError, ConnectionError, EventTooLong)


def _failure(url: str, problem: aiohttp.ClientError | ConnectionError | EventTooLong) -> RunFailed:
    if has_too_many_open(problem):
        return RunFailed(too_many_open(_without_secrets(url)))
    match problem:
        case aiohttp.InvalidURL():
            kind, detail = "unreachable", f"{url} is not an address: {problem}"
        case aiohttp.ClientConnectorError():
            kind, detail = "unreachable", f"{url}: nothing answers there ({_why(problem)})"
        case EventTooLong():
            kind, detail = "format", f"{url}: {problem}"
        case _:
            kind, detail = "unreachable", f"{url}: the connection broke: {type(problem).__name__}: {problem}"
    passes = kind == "unreachable" and not isinstance(problem, aiohttp.InvalidURL)
    return RunFailed(failed(kind, _without_secrets(detail), transient=passes))


def _without_secrets(detail: str) -> str:
    """Addresses without parts that may hold keys: the login, and what follows the path."""
    return _QUERY.sub(r"\1***", _LOGIN.sub("", detail))


def _why(problem: aiohttp.ClientConnectorError) -> str:
    """The operating system's own message, if the error came from there."""
    fault = problem.os_error
    if isinstance(problem, aiohttp.ClientSSLError) or not fault.errno:
        return str(problem)
    return str(fault.strerror) if isinstance(problem, aiohttp.ClientConnectorDNSError) else os.strerror(fault.errno)


def content_type(response: HttpResponse) -> str:
    """The type without parameters. aiohttp's property parses it as a mail header, which would slow the first turn."""
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


async def chunks(response: HttpResponse) -> AsyncGenerator[bytes, None]:
    """The body as it comes. If there is more than one read takes, other tasks run in between."""
    while chunk := await response.content.read(CHUNK_BYTES):
        yield chunk
        if len(chunk) == CHUNK_BYTES:
            await asyncio.sleep(0)


async def whole_body(response: HttpResponse, limit: int = LINE_LIMIT) -> bytes:
    """Raises RunFailed for a body larger than the limit: decoding it in one go would make everything else wait."""
    pieces: list[bytes] = []
    left = limit
    async with aclosing(chunks(response)) as body:
        async for chunk in body:
            left -= len(chunk)
            if left < 0:
                detail = f"{response.url}: an answer in one piece larger than {limit >> 20} MB; stream it instead"
                raise RunFailed(failed("format", _without_secrets(detail)))
            pieces.append(chunk)
    return b"".join(pieces)


async def server_events(response: HttpResponse) -> AsyncGenerator[ServerEvent, None]:
    reader = ServerEventReader()
    async with aclosing(chunks(response)) as body:
        async for chunk in body:
            for event in reader.feed(chunk):
                yield event


def reads(shape: type[T]) -> msgspec.json.Decoder[T]:
    """A decoder for an endpoint's data, made once per shape; numbers may come as strings."""
    return msgspec.json.Decoder(shape, strict=False)


def decoded(data: str | bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """The data decoded into its shape; anything else is a `format` failure that quotes how the data began."""
    try:
        return from_json(data, decoder)
    except msgspec.MsgspecError as problem:
        raise no_answer(str(problem), data) from problem


def no_answer(why: str, data: str | bytes) -> RunFailed:
    beginning = data[:200] if isinstance(data, str) else data[:200].decode("utf-8", "replace")
    return RunFailed(failed("format", f"not an answer we know ({why}): {beginning}"))


def stopped_in_the_middle() -> RunFailed:
    return RunFailed(failed("unreachable", "the stream stopped in the middle of the answer", transient=True))
