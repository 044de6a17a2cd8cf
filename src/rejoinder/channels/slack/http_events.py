"""Signed HTTP events: Slack calls us, and takes our answer as a receipt (CH-30).

Rule 1: a request without Slack's signature, or older than five minutes, is refused, and its body is not parsed.
Rule 2: we answer 200 when the message is stored, never before (DU-1, CH-5); otherwise Slack sends it again.
Rule 3: requests arrive concurrently; they are handled one after the other, in the order in which they arrived.
"""

import asyncio
import hashlib
import hmac
import logging
from time import monotonic, time
from typing import Any
from urllib.parse import parse_qs

import msgspec
from aiohttp import web
from msgspec import Struct

from rejoinder.channels.http_listener import Address, body_of, listening
from rejoinder.channels.slack.history import HistoryReader
from rejoinder.channels.slack.history_catch_up import HistoryCatchUp
from rejoinder.channels.slack.intake import Intake
from rejoinder.channels.slack.retrying import Timings
from rejoinder.channels.slack.wire import Envelope
from rejoinder.secret import Secret

log = logging.getLogger(__name__)

OLDEST = 300.0
"""Seconds: an older request may be a replay of an intercepted one."""
_object = msgspec.json.Decoder(dict[str, Any])


class WebhookAddress(Struct, frozen=True):
    secret: Secret
    path: str
    host: str
    port: int


class HttpEventSource:
    listens_everywhere = True

    """Listens for signed events."""

    def __init__(self, hook: WebhookAddress, pace: Timings) -> None:
        self._hook = hook
        self._pace = pace
        self._catch_up: HistoryCatchUp | None = None
        self._in_turn = asyncio.Lock()
        self.last_sign: float | None = None

    @property
    def trouble(self) -> str:
        return self._catch_up.trouble if self._catch_up is not None else ""

    async def run(self, section: str, intake: Intake, reader: HistoryReader) -> None:
        catch_up = self._catch_up = HistoryCatchUp(section, intake, reader, self._pace)
        hook = self._hook
        path = hook.path if hook.path.startswith("/") else f"/{hook.path}"
        where = Address(hook.host, hook.port, path, "events_host and events_port")

        async def take(request: web.Request) -> web.Response:
            raw = await body_of(request)
            if not is_signed(raw, request.headers, hook.secret, time()):
                raise web.HTTPUnauthorized
            return await self._taken(raw, request.content_type, intake, catch_up)

        async with listening(where, take) as listener:
            catch_up.close()
            await asyncio.gather(listener.attend(), catch_up.watch())

    async def _taken(self, raw: bytes, kind: str, intake: Intake, catch_up: HistoryCatchUp) -> web.Response:
        self.last_sign = monotonic()
        try:
            envelope = envelope_of(raw, kind)
        except (ValueError, UnicodeDecodeError, RecursionError):
            raise web.HTTPBadRequest from None
        if envelope.type == "url_verification":
            return web.Response(text=str(envelope.payload.get("challenge", "")))
        await catch_up.until_closed()
        async with self._in_turn:
            (answer,) = await intake.take([envelope])
        if answer is None:
            raise web.HTTPServiceUnavailable
        return web.json_response(answer) if answer else web.Response()

    async def check(self, section: str, seconds: float) -> str:
        return f"signed events at {self._hook.path}, on {self._hook.host}:{self._hook.port}"

    async def close(self) -> None:
        """There is nothing to close: the listener closes with `run`."""


def is_signed(raw: bytes, headers: Any, secret: Secret, now: float) -> bool:
    """Whether Slack has signed exactly this body, a moment ago."""
    at = headers.get("X-Slack-Request-Timestamp", "")
    shown = headers.get("X-Slack-Signature", "").encode("utf-8", "surrogateescape")  # the header may hold any bytes
    if not at.isascii() or not at.isdecimal() or len(at) > 12 or abs(now - int(at)) > OLDEST:
        return False
    own = hmac.new(secret.reveal().encode(), b"v0:%s:%s" % (at.encode(), raw), hashlib.sha256).hexdigest()
    return hmac.compare_digest(shown, f"v0={own}".encode())


def envelope_of(raw: bytes, kind: str) -> Envelope:
    """The envelope that Socket Mode would send. Raises ValueError if this is not one of Slack's requests."""
    if kind != "application/x-www-form-urlencoded":
        payload = _object.decode(raw)
        return Envelope("url_verification" if payload.get("type") == "url_verification" else "events_api", "", payload)
    form = {name: values[0] for name, values in parse_qs(raw.decode(), keep_blank_values=True).items()}
    if "payload" in form:
        return Envelope("interactive", "", _object.decode(form["payload"]))
    return Envelope("slash_commands", "", dict(form))
