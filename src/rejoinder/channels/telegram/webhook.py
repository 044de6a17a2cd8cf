"""The webhook: Telegram calls us, and takes our answer as a receipt.

Rule 1: a caller that does not know the secret, or announces too large a body, is refused before any of it is read.
Rule 2: we answer 200 when the message is durable, never before (DU-1); otherwise Telegram sends it again.
Rule 3: the rest of an album comes only after the receipt for its first picture. So the cursor keeps the pictures that
        wait for their album, and we resume from there after a crash.
"""

import asyncio
import hmac
import logging
import secrets
from time import monotonic
from urllib.parse import urlsplit

from aiohttp import web
from msgspec import Raw, Struct

from rejoinder.channels.http_listener import Address, body_of, listening
from rejoinder.channels.store_waiting import when_available
from rejoinder.channels.telegram.albums import AlbumSorter, album_of
from rejoinder.channels.telegram.cursor import Cursor
from rejoinder.channels.telegram.intake import Intake, read
from rejoinder.channels.telegram.repair import sound
from rejoinder.channels.telegram.retrying import RetryingCalls, Timings
from rejoinder.channels.telegram.wire import UPDATES
from rejoinder.errors import StoreUnavailable

log = logging.getLogger(__name__)

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"


class WebhookAddress(Struct, frozen=True):
    """The public address that Telegram calls, and the local address that we listen on."""

    url: str
    host: str
    port: int


async def serve_webhook(hook: WebhookAddress, calls: RetryingCalls, intake: Intake, pace: Timings) -> None:
    """Runs for ever."""
    secret = secrets.token_urlsafe(32)  # new at each start
    receiver = Receiver(intake, pace)
    await receiver.resume()
    where = Address(hook.host, hook.port, urlsplit(hook.url).path or "/", "webhook_host and webhook_port")
    async with listening(where, lambda request: _taken(request, secret, receiver)) as listener:
        await asyncio.gather(listener.attend(), _receive(hook, secret, calls, receiver))


async def _receive(hook: WebhookAddress, secret: str, calls: RetryingCalls, receiver: "Receiver") -> None:
    await calls.ask("setWebhook", {"url": hook.url, "secret_token": secret, "allowed_updates": list(UPDATES)})
    await receiver.settle_albums()


class Receiver:
    """Takes updates one by one; those that wait are kept in the cursor."""

    def __init__(self, intake: Intake, pace: Timings) -> None:
        self._intake = intake
        self._pace = pace
        self._patience = AlbumSorter(pace.quiet_album, pace.longest_album)
        self._waiting: dict[int, bytes] = {}
        self._one_by_one = asyncio.Lock()
        self._came = asyncio.Event()

    async def resume(self) -> None:
        """Loads what was waiting when the last process ended, once the store answers (DU-15)."""
        cursor = await when_available(self._intake.resume, self._pace.first_pause)
        waiting = map(bytes, cursor.waiting)
        self._waiting = {read(raw).update_id: raw for raw in waiting}
        if self._waiting:
            self._came.set()

    async def receive(self, raw: bytes) -> None:
        """Returns when the update is durable."""
        update = read(raw)
        if not self._waiting and not album_of(update):
            await self._intake.take([update], None)
            return
        async with self._one_by_one:
            before, self._waiting = self._waiting, {**self._waiting, update.update_id: raw}
            try:
                await self._sort()
            except BaseException:
                self._waiting = before
                raise
        self._came.set()

    async def settle_albums(self) -> None:
        while True:
            await self._came.wait()
            self._came.clear()
            while self._waiting:
                await asyncio.sleep(self._pace.quiet_album)
                try:
                    async with self._one_by_one:
                        await self._sort()
                except StoreUnavailable as problem:
                    log.debug("%s", problem)  # the store itself says it once, in the log

    async def _sort(self) -> None:
        updates = [read(raw) for raw in self._waiting.values()]
        sorted = self._patience.sort(updates, monotonic())
        waiting = {update.update_id: self._waiting[update.update_id] for update in sorted.waiting}
        await self._intake.take(sorted.ready, Cursor(waiting=tuple(map(Raw, waiting.values()))))
        self._waiting = waiting


async def _taken(request: web.Request, secret: str, receiver: Receiver) -> web.Response:
    shown = request.headers.get(SECRET_HEADER, "").encode("utf-8", "surrogateescape")  # the header may hold any bytes
    if not hmac.compare_digest(shown, secret.encode()):
        raise web.HTTPUnauthorized
    raw = await body_of(request)
    try:
        await receiver.receive(sound(raw))
    except ValueError:
        raise web.HTTPBadRequest from None
    except StoreUnavailable as problem:
        log.debug("%s", problem)  # the store itself says it once, in the log
        raise web.HTTPServiceUnavailable from None
    return web.Response()
