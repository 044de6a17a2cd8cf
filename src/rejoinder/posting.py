"""Posts small bodies over the connections of an aiohttp session, again and again to the same few addresses.

For each request aiohttp's session works out address, headers, cookies, credentials and redirects, and writes the body
in a task of its own. For requests that differ only in their body the result is the same each time, and takes as long
as the rest. So it is worked out once for each address, and a request is one write and one read. Connections, TLS and
the parser are aiohttp's.

Rule 1: only for small bodies, which the socket takes at once. A large one may still be on its way when the answer
        comes, and until it is sent aiohttp does not let the connection be used again.
Rule 2: anything else out of the ordinary (a proxy, an `Expect` header, a login in the address) also goes through the
        session.
Rule 3: a failure raises what the session would raise. `ConnectionClosed` says that nothing was written.
Rule 4: data that the server sends without a request is no answer. Taken for one, it would shift all later answers.
"""

import asyncio
import re
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from msgspec import Struct
from multidict import CIMultiDictProxy
from yarl import URL

if TYPE_CHECKING:
    from aiohttp.connector import Connection
    from aiohttp.http import RawResponseMessage

SMALL = 65_536
CONTINUE, SWITCHING_PROTOCOLS, OK = 100, 101, 200
_UNUSUAL = frozenset({"connection", "content-length", "expect", "transfer-encoding"})
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class ConnectionClosed(aiohttp.ClientOSError):
    """A connection kept from the last request cannot be used any more; nothing was written to it."""


class PostResponse:
    """Gives its connection back when it has been read to its end."""

    __slots__ = ("_connection", "closed", "content", "headers", "reason", "status", "url")

    def __init__(
        self, url: URL, message: "RawResponseMessage", content: aiohttp.StreamReader, connection: "Connection"
    ) -> None:
        self.url = url
        self.status: int = message.code
        self.reason: str | None = message.reason
        self.headers: CIMultiDictProxy[str] = message.headers
        self.content = content
        self.closed = False
        self._connection = connection
        content.on_eof(self._give_back)

    def _give_back(self) -> None:
        if not self.closed:
            self.closed = True
            self._connection.release()

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self.content.set_exception(aiohttp.ClientConnectionError("Connection closed"))  # wakes the reader
        self._connection.close()


HttpResponse = aiohttp.ClientResponse | PostResponse


class _Address(Struct, frozen=True):
    """`request`: names the server for the connector. `head`: everything before the length of the body."""

    request: aiohttp.ClientRequest
    head: bytes


class Poster:
    """`session`: has the headers of every request, and keeps no cookies."""

    def __init__(self, session: aiohttp.ClientSession, *, has_proxy: bool = False) -> None:
        self.session = session
        self._is_unusual = has_proxy or not _UNUSUAL.isdisjoint(name.lower() for name in session.headers)
        self._addresses: dict[str, _Address | None] = {}

    async def post(self, url: str, body: bytes, timeout: aiohttp.ClientTimeout) -> HttpResponse:  # noqa: ASYNC109
        """The response; its connection returns to the pool when it is read to its end or closed. Redirects are not
        followed.

        `timeout`: for connecting only; how long to wait for the answer is up to the caller.
        """
        if url not in self._addresses:
            self._addresses[url] = None if self._is_unusual else self._worked_out(url)
        address, connector = self._addresses[url], self.session.connector
        if address is None or connector is None or len(body) > SMALL:
            return await self.session.post(url, data=body, timeout=timeout, allow_redirects=False)
        try:
            connection = await connector.connect(address.request, [], timeout)
        except TimeoutError as late:
            raise aiohttp.ConnectionTimeoutError(f"Connection timeout to host {address.request.url}") from late
        try:
            return await _exchange(connection, address, body)
        except BaseException:
            connection.close()
            raise

    def _worked_out(self, url: str) -> _Address | None:
        """None if this address has to go through the session."""
        session = self.session
        try:
            request = aiohttp.ClientRequest(
                "POST", URL(url), headers=session.headers, loop=asyncio.get_running_loop(), session=session
            )
            fields = [f"{name}: {value}" for name, value in request.headers.items() if name.lower() not in _UNUSUAL]
            lines = [f"POST {request.url.raw_path_qs} HTTP/1.1", *fields]
            head = "\r\n".join([*lines, "Content-Length: "]).encode()
        except ValueError:
            return None
        has_login = request.url.raw_user is not None or request.url.raw_password is not None
        if has_login or request.url.scheme not in ("http", "https") or any(map(_CONTROL.search, lines)):
            return None
        return _Address(request, head)


async def _exchange(connection: "Connection", address: _Address, body: bytes) -> HttpResponse:
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None or transport.is_closing():
        raise ConnectionClosed(None, "the connection was closed before anything was written")
    if protocol.should_close:
        raise ConnectionClosed(None, "the server sent something before anything was written")
    protocol.set_response_params(read_until_eof=True, read_bufsize=SMALL)
    transport.write(b"%b%d\r\n\r\n%b" % (address.head, len(body), body))
    try:
        message, content = await protocol.read()
        while CONTINUE <= message.code < OK and message.code != SWITCHING_PROTOCOLS:  # an interim response
            message, content = await protocol.read()
    except HttpProcessingError as problem:
        asked, status, said = address.request.request_info, problem.code, problem.message
        raise aiohttp.ClientResponseError(asked, (), status=status, message=said) from problem
    return PostResponse(address.request.url, message, content, connection)
