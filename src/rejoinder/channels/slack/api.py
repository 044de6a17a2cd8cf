"""Calls of Slack's Web API: one attempt each, with its result (CH-6). No token leaves this file.

The SDK's web client is not used for them: it cannot tell a request that was never written from one that was never
answered, and this decides whether a message may be sent again.
"""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from rejoinder.alarms import timeout
from rejoinder.channels.http_client import OK, HttpClient, load_file, read_all, status_of
from rejoinder.channels.http_faults import FAILED, connect_timeout, is_ours, server_of, was_written
from rejoinder.channels.http_faults import timeout as http_timeout
from rejoinder.channels.slack.outcomes import Answer, NoResponse, NotSent, Ok, Refused
from rejoinder.crashpoint import answer_unread
from rejoinder.posting import HttpResponse
from rejoinder.secret import Secret

CALL_SECONDS = 30.0
SLOWEST = 100_000
"""Bytes a second: an upload gets the time that it would need at this speed."""
HTML = "text/html"

_object = msgspec.json.Decoder(dict[str, Any])


class Api:
    """One token at one server. It raises nothing, whatever the network or Slack does."""

    def __init__(self, root: str, token: Secret, seconds: float = CALL_SECONDS) -> None:
        self._root = root.rstrip("/") + "/"
        self._token = token
        self._seconds = seconds
        self._timeout = http_timeout(seconds)
        self._http = HttpClient(self._root, token)
        self._calls = HttpClient(self._root, token, {**_JSON, "Authorization": f"Bearer {token.reveal()}"})

    async def call(self, method: str, payload: dict[str, Any], seconds: float | None = None) -> Answer:
        """The answer to a method that takes JSON; the call is given up after `seconds`."""
        address, body = self._root + method, msgspec.json.encode(payload)
        patience = self._seconds if seconds is None else seconds
        try:
            with timeout(patience):
                response = await self._calls.poster.post(address, body, connect_timeout(patience))
                answer_unread()
                return _read(response, await read_all(response))
        except FAILED as problem:
            return (NoResponse if was_written(problem) else NotSent)(self._http.said(problem), is_ours(problem))

    async def ask(self, method: str, payload: dict[str, Any], seconds: float | None = None) -> Answer:
        """The same for the methods that only read: they take a form."""
        form = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in payload.items()}
        headers = {"Authorization": f"Bearer {self._token.reveal()}"}
        return await self._post(self._root + method, form, headers, seconds)

    async def respond(self, address: str, payload: dict[str, Any]) -> Answer:
        """Answers at an address that Slack gave for one interaction. No token is needed there, and none is sent."""
        return await self._post(address, msgspec.json.encode(payload), _JSON, None)

    async def _post(
        self, address: str, body: bytes | dict[str, str], headers: dict[str, str], seconds: float | None
    ) -> Answer:
        within = self._timeout if seconds is None else http_timeout(seconds)
        try:
            async with self._http.session.post(
                address, data=body, headers=headers, timeout=within, allow_redirects=False
            ) as response:
                answer_unread()
                return _read(response, await response.read())
        except FAILED as problem:
            return (NoResponse if was_written(problem) else NotSent)(self._http.said(problem), is_ours(problem))

    # --- files ------------------------------------------------------------------------------------

    async def load(self, address: str, limit: int) -> bytes | str:
        """The file at this address, or why it could not be loaded. Only Slack's own host is shown the token (CH-33)."""
        if not self._is_slack(address):
            return "its address is not Slack's"
        headers = {"Authorization": f"Bearer {self._token.reveal()}"}
        try:
            async with self._http.session.get(
                address, headers=headers, timeout=self._timeout, allow_redirects=False
            ) as response:
                if response.status in (301, 302, 303, 307):
                    return LOGIN_PAGE
                content = await load_file(response, limit)
                is_page = response.content_type == HTML and isinstance(content, bytes) and _is_html(content)
                return LOGIN_PAGE if is_page else content
        except (aiohttp.ClientError, TimeoutError, OSError) as problem:
            return self._http.said(problem)

    async def upload(self, address: str, content: AsyncIterator[bytes], size: int) -> str:
        """Uploads a file to the address that Slack gave. Returns why it did not work, or an empty text."""
        headers, seconds = {"Content-Length": str(size)}, CALL_SECONDS + size / SLOWEST
        try:
            async with self._http.session.post(
                address, data=content, headers=headers, timeout=http_timeout(seconds), allow_redirects=False
            ) as response:
                return "" if response.status == OK else f"status {response.status}"
        except (aiohttp.ClientError, TimeoutError, OSError) as problem:
            return self._http.said(problem)

    def _is_slack(self, address: str) -> bool:
        url, root = URL(address), URL(self._root)
        if (url.host, url.port) == (root.host, root.port):
            return True
        return url.scheme == "https" and (url.host or "").endswith((".slack.com", ".slack-edge.com"))

    # --- the connection ---------------------------------------------------------------------------

    @property
    def server(self) -> str:
        """The server's address, for messages to people."""
        return server_of(self._root)

    async def close(self) -> None:
        await self._http.close()
        await self._calls.close()


LOGIN_PAGE = (
    "Slack sent its login page instead: the scope files:read is missing. Add it under OAuth & Permissions and install "
    "the app once more"
)
_JSON = {"Content-Type": "application/json; charset=utf-8"}


def _is_html(content: bytes) -> bool:
    return content[:200].lstrip().lower().startswith((b"<!doctype", b"<html"))


def _read(response: HttpResponse, body: bytes) -> Answer:
    status = response.status
    wait = response.headers.get("Retry-After", "")
    seconds = float(wait) if wait.isdecimal() else None
    if status < 300 and body.strip() in (b"ok", b""):  # what Slack answers at a response address
        return Ok({})
    try:
        found = _object.decode(body)
    except (msgspec.DecodeError, RecursionError):
        if status < 300:
            return NoResponse(f"the answer with status {status} is not Slack's")
        return Refused(status_of(response), status, seconds, foreign=True)
    if found.get("ok"):
        return Ok(found, response.headers.get("X-OAuth-Scopes", ""))
    return Refused(str(found.get("error", status)), status, seconds, str(found.get("needed", "")))
