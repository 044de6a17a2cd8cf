"""Calls of the Bot API. The token is part of every address, so no address leaves this file."""

from typing import Any
from urllib.parse import quote

import msgspec

from rejoinder.alarms import timeout
from rejoinder.channels.base import OutgoingFile
from rejoinder.channels.http_client import HttpClient, load_file, read_all, status_of
from rejoinder.channels.http_faults import FAILED, connect_timeout, is_ours, server_of, was_written
from rejoinder.channels.http_faults import timeout as http_timeout
from rejoinder.channels.multipart import Form
from rejoinder.channels.telegram.files import fields
from rejoinder.channels.telegram.outcomes import Answer, NoResponse, NotSent, Ok, Refused
from rejoinder.channels.telegram.repair import repaired
from rejoinder.channels.telegram.wire import Response
from rejoinder.crashpoint import answer_unread
from rejoinder.errors import StoreUnavailable
from rejoinder.posting import HttpResponse
from rejoinder.secret import Secret

CALL_SECONDS = 30.0
SLOWEST = 100_000
"""Bytes a second: a file gets the time that it would need at this speed."""

_response = msgspec.json.Decoder(Response)


class Api:
    """One bot at one Bot API server. It raises nothing, whatever the network or Telegram does."""

    def __init__(self, root: str, token: Secret, seconds: float = CALL_SECONDS) -> None:
        self._root = root.rstrip("/")
        self._token = token
        self._seconds = seconds
        self._http = HttpClient(self._root, token, {"Content-Type": "application/json"})

    async def call(self, method: str, payload: dict[str, Any], seconds: float | None = None) -> Answer:
        """Calls a method; the call is given up after `seconds`."""
        address = f"{self._root}/bot{self._token.reveal()}/{method}"
        patience = self._seconds if seconds is None else seconds
        body = msgspec.json.encode(payload)
        try:
            with timeout(patience):  # aiohttp's own way costs twice as much
                response = await self._http.poster.post(address, body, connect_timeout(patience))
                answer_unread()
                return _read(response, await read_all(response))
        except FAILED as problem:
            return (NoResponse if was_written(problem) else NotSent)(self._http.said(problem), is_ours(problem))

    async def upload(self, method: str, payload: dict[str, Any], files: list[tuple[str, OutgoingFile]]) -> Answer:
        """The same with files, which are read while they are written to Telegram."""
        form = Form(fields(payload), files)
        address = f"{self._root}/bot{self._token.reveal()}/{method}"
        headers = {"Content-Type": form.content_type, "Content-Length": str(form.size)}
        limit = http_timeout(CALL_SECONDS + form.size / SLOWEST)
        try:
            async with self._http.session.post(
                address, data=form.pieces(), headers=headers, timeout=limit, allow_redirects=False
            ) as response:
                answer_unread()
                return _read(response, await response.read())
        except (*FAILED, StoreUnavailable) as problem:
            written = form.is_written and was_written(problem)
            return (NoResponse if written else NotSent)(self._http.said(problem), is_ours(problem))

    async def load(self, path: str, limit: int) -> bytes | str:
        """The file at this path, or why it could not be loaded."""
        address = f"{self._root}/file/bot{self._token.reveal()}/{quote(path)}"
        patience = http_timeout(self._seconds)
        try:
            async with self._http.session.get(address, timeout=patience, allow_redirects=False) as response:
                return await load_file(response, limit)
        except FAILED as problem:
            return self._http.said(problem)

    @property
    def server(self) -> str:
        """The server's address, for messages to people."""
        return server_of(self._root)

    async def close(self) -> None:
        await self._http.close()


def _decode(body: bytes) -> Response:
    try:
        return _response.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return _response.decode(repaired(body))


def _read(response: HttpResponse, body: bytes) -> Answer:
    status = response.status
    try:
        answer = _decode(body)
    except ValueError:  # a proxy on the way answered with HTML
        if status < 300:
            return NoResponse(f"the answer with status {status} is not Telegram's")
        return Refused(status, status_of(response), foreign=True)
    if answer.ok:
        return Ok(answer.result)
    said = answer.parameters
    return Refused(answer.error_code or status, answer.description, said.retry_after, said.migrate_to_chat_id)
