"""Calls of the Bot API. The token is part of every address, so no address leaves this file."""

import asyncio
from typing import Any

import aiohttp
import msgspec

from rejoinder.channels.telegram.outcomes import Answer, Ok, Refused, Unheard, Unreached
from rejoinder.channels.telegram.wire import Response
from rejoinder.crashpoint import answer_unread
from rejoinder.secret import Secret

CONNECT_SECONDS = 10.0
CALL_SECONDS = 30.0

_NOT_WRITTEN = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientProxyConnectionError,
    aiohttp.InvalidURL,
)
_response = msgspec.json.Decoder(Response)


class Api:
    """One bot at one Bot API server. It never raises for what the network or Telegram does."""

    def __init__(self, root: str, token: Secret, seconds: float = CALL_SECONDS) -> None:
        self._root = root.rstrip("/")
        self._token = token
        self._seconds = seconds
        self._session: aiohttp.ClientSession | None = None

    async def call(self, method: str, payload: dict[str, Any], seconds: float | None = None) -> Answer:
        """Answered, or given up after so many seconds."""
        seconds = seconds or self._seconds
        address = f"{self._root}/bot{self._token.reveal()}/{method}"
        timeout = aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, CONNECT_SECONDS))
        body = msgspec.json.encode(payload)
        headers = {"Content-Type": "application/json"}
        try:
            async with self._opened().post(address, data=body, headers=headers, timeout=timeout) as response:
                answer_unread()
                return _read(response.status, response.reason or "", await response.read())
        except _NOT_WRITTEN as problem:
            return Unreached(self._said(problem))
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, OSError) as problem:
            return Unheard(self._said(problem))

    async def close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A connection that Telegram has closed meanwhile would make the fate of a message unknown: keep none long.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(keepalive_timeout=15.0, limit=0), trust_env=True
            )
        return self._session

    def _said(self, problem: Exception) -> str:
        words = str(problem) or type(problem).__name__
        return words.replace(self._token.reveal(), "***")


def _read(status: int, reason: str, body: bytes) -> Answer:
    try:
        response = _response.decode(body)
    except msgspec.DecodeError:  # a proxy on the way speaks HTML
        if status < 400:
            return Unheard(f"the answer with status {status} is not Telegram's")
        return Refused(status, f"{status} {reason}".strip())
    if response.ok:
        return Ok(response.result)
    said = response.parameters
    return Refused(response.error_code or status, response.description, said.retry_after, said.migrate_to_chat_id)
