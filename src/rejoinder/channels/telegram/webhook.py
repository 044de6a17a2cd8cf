"""The webhook: Telegram calls us, and takes our answer as a receipt.

Rule 1: a caller that does not know the secret, or announces too large a body, is refused before any of it is read.
Rule 2: we answer 200 when the message is durable, never before (DU-1); else Telegram sends it again.
Rule 3: the rest of an album comes only after the receipt for its first picture. So we keep what waits for its album, in
        the cursor, and resume from there after a crash.
Rule 4: it is a door to the world like the page's: slow and idle connections are put out, and only so many come in.
"""

import asyncio
import hmac
import logging
import secrets
import socket
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from msgspec import Raw, Struct

from rejoinder.addresses import is_this_machine
from rejoinder.channels.telegram.albums import Patience, album_of
from rejoinder.channels.telegram.cursor import Cursor
from rejoinder.channels.telegram.intake import Intake, read
from rejoinder.channels.telegram.patient import Pace, Patient
from rejoinder.channels.telegram.repair import sound
from rejoinder.channels.telegram.wire import UPDATES
from rejoinder.door import Door, Room, Seats, quiet, room_here
from rejoinder.errors import ChannelStopped, StoreUnavailable

log = logging.getLogger(__name__)

MOST_BYTES = 1_000_000
BODY_SECONDS = 20.0
ROOM, SHARE = Room(in_all=128), 8
"""Telegram opens at most 100 connections; the page needs more of the file descriptors."""
TICK = 1.0
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"


class Hook(Struct, frozen=True):
    """The public address that Telegram calls, and the local address that we listen on."""

    url: str
    host: str
    port: int


async def serve_webhook(hook: Hook, patient: Patient, intake: Intake, pace: Pace) -> None:
    """Runs for ever."""
    secret = secrets.token_urlsafe(32)  # a new one with each start
    receiver = Receiver(intake, pace)
    await receiver.resume()
    async with _listening(hook, secret, receiver) as door:
        await asyncio.gather(door.attend(), _receive(hook, secret, patient, receiver))


async def _receive(hook: Hook, secret: str, patient: Patient, receiver: "Receiver") -> None:
    await patient.ask("setWebhook", {"url": hook.url, "secret_token": secret, "allowed_updates": list(UPDATES)})
    await receiver.settle_albums()


class Receiver:
    """Takes updates one by one; those that wait are kept in the cursor."""

    def __init__(self, intake: Intake, pace: Pace) -> None:
        self._intake = intake
        self._pace = pace
        self._patience = Patience(pace.quiet_album, pace.longest_album)
        self._waiting: dict[int, bytes] = {}
        self._one_by_one = asyncio.Lock()
        self._came = asyncio.Event()

    async def resume(self) -> None:
        """Loads what was waiting when the last process ended."""
        waiting = map(bytes, (await self._intake.resume()).waiting)
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


class WebhookDoor:
    """Lets connections in one after the other. Whoever calls from this machine is a proxy, and may have them all."""

    def __init__(self, listening: socket.socket, server: web.Server, seats: Seats) -> None:
        self._coming: asyncio.Queue[Coroutine[Any, Any, None] | None] = asyncio.Queue()
        self._door = Door("The webhook", listening, server, self._start, seats)
        self._door.open()

    async def attend(self) -> None:
        """Runs until `close`."""
        while True:
            try:
                async with asyncio.timeout(TICK):
                    connecting = await self._coming.get()
            except TimeoutError:
                pass
            else:
                if connecting is None:
                    return
                await connecting
            self._door.watch()

    def close(self) -> None:
        self._door.close()
        while not self._coming.empty():
            if (connecting := self._coming.get_nowait()) is not None:
                connecting.close()
        self._coming.put_nowait(None)

    def _start(self, name: str, connecting: Coroutine[Any, Any, None]) -> None:
        self._coming.put_nowait(connecting)


@asynccontextmanager
async def _listening(hook: Hook, secret: str, receiver: Receiver) -> AsyncGenerator[WebhookDoor]:
    seats = Seats(room_here(ROOM, SHARE), is_this_machine)

    async def take(request: web.Request) -> web.Response:
        with seats.at_work(_peer(request)):
            return await _taken(request, secret, receiver)

    app = web.Application(client_max_size=MOST_BYTES)
    app.router.add_post(urlsplit(hook.url).path or "/", take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    assert runner.server is not None
    with quiet("aiohttp.server"), _bound(hook) as listening:
        door = WebhookDoor(listening, runner.server, seats)
        try:
            yield door
        finally:
            door.close()
            await runner.cleanup()


def _peer(request: web.Request) -> tuple[str, int] | None:
    found = request.transport.get_extra_info("peername") if request.transport is not None else None
    return (found[0], found[1]) if found else None


async def _taken(request: web.Request, secret: str, receiver: Receiver) -> web.Response:
    shown = request.headers.get(SECRET_HEADER, "").encode("utf-8", "surrogateescape")  # any bytes may come
    if not hmac.compare_digest(shown, secret.encode()):
        raise web.HTTPUnauthorized
    if (request.content_length or 0) > MOST_BYTES:
        raise web.HTTPRequestEntityTooLarge(MOST_BYTES, request.content_length or 0)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            raw = await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    try:
        await receiver.receive(sound(raw))
    except ValueError:
        raise web.HTTPBadRequest from None
    except StoreUnavailable as problem:
        log.debug("%s", problem)  # the store itself says it once, in the log
        raise web.HTTPServiceUnavailable from None
    return web.Response()


def _bound(hook: Hook) -> socket.socket:
    try:
        listening = socket.create_server(
            (hook.host, hook.port), family=socket.AF_INET6 if ":" in hook.host else socket.AF_INET
        )
    except OSError as problem:
        raise ChannelStopped(
            f"The webhook cannot listen on {hook.host}:{hook.port} ({problem.strerror}). "
            "Set webhook_host and webhook_port to an address of this machine that is free."
        ) from None
    listening.setblocking(False)
    return listening
