"""The connections to one platform's HTTP API, with one token, which no error message shows."""

import aiohttp

from rejoinder.channels.http_faults import proxy_for, reason_of
from rejoinder.posting import HttpResponse, Poster
from rejoinder.secret import Secret
from rejoinder.unicode_repair import repair_text

KEEPALIVE = 15.0
"""Seconds. If the platform has closed a connection that we keep, nobody knows whether a message arrived."""

OK = 200
PIECE = 65_536


async def load_file(response: aiohttp.ClientResponse, limit: int) -> bytes | str:
    """The body of the platform's answer, or why it was not accepted."""
    if response.status != OK:
        return f"status {response.status}"
    content = bytearray()
    async for piece in response.content.iter_chunked(PIECE):
        content += piece
        if len(content) > limit:
            return f"it has more than {limit} bytes"
    return bytes(content)


async def read_all(response: HttpResponse) -> bytes:
    """Like the response's own `read`, but without its extra read after the end of the body."""
    content = response.content
    try:
        body = await content.readany()
        while not content.at_eof():
            body += await content.readany()
    except BaseException:
        response.close()
        raise
    return body


def status_of(response: HttpResponse) -> str:
    """The status line for people. The server chooses its words, and they may be in any encoding."""
    return f"{response.status} {repair_text(response.reason or '')}".strip()


class HttpClient:
    def __init__(self, root: str, token: Secret, headers: dict[str, str] | None = None) -> None:
        self._root = root
        self._token = token
        self._headers = headers
        self._poster: Poster | None = None

    @property
    def poster(self) -> Poster:
        """For what is posted often. Opened when it is first used."""
        if self._poster is None:
            proxy, auth = proxy_for(self._root)
            session = aiohttp.ClientSession(
                headers=self._headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                connector=aiohttp.TCPConnector(keepalive_timeout=KEEPALIVE, limit=0),
                proxy=proxy,
                proxy_auth=auth,
            )
            self._poster = Poster(session, has_proxy=proxy is not None)
        return self._poster

    @property
    def session(self) -> aiohttp.ClientSession:
        return self.poster.session

    async def close(self) -> None:
        if self._poster is not None:
            poster, self._poster = self._poster, None
            await poster.session.close()

    def said(self, problem: Exception) -> str:
        """What went wrong, for people."""
        return reason_of(problem).replace(self._token.reveal(), "***")
