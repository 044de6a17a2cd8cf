"""Socket Mode: Slack's events over a socket that we open, by the SDK's client (CH-30).

Rule 1: an envelope is acknowledged, on the socket it came by, when its contents are stored (CH-5). If it is not
        acknowledged within three seconds, Slack sends it again.
Rule 2: if Slack announces the end of a socket, the next one is opened before the old one is closed; otherwise messages
        that came in between are read from history.
Rule 3: one consumer takes the envelopes of all sockets in order; the SDK would handle them concurrently.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import aiohttp
import msgspec
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from rejoinder.channels.growing_pauses import pause_after
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.history import HistoryReader
from rejoinder.channels.slack.history_catch_up import HistoryCatchUp
from rejoinder.channels.slack.intake import Intake
from rejoinder.channels.slack.retrying import RetryingCalls, Timings
from rejoinder.channels.slack.wire import Envelope
from rejoinder.channels.together import together
from rejoinder.crashpoint import crashpoint

log = logging.getLogger(__name__)
_quiet = logging.getLogger(f"{__name__}.sdk")
_quiet.setLevel(logging.CRITICAL)  # we log its problems ourselves, as sentences instead of tracebacks

GHOSTS = (
    "another program is connected with this app's token and takes a share of its messages; stop it, or give it an app "
    "of its own. Until then messages are read from history, and come late"
)
TOO_MANY = "too_many_websockets"
TOO_MANY_SENTENCE = (
    "this app has as many sockets as Slack allows: other programs run with its token. Stop them, or give this one an "
    "app of its own"
)
REFRESH = ("refresh_requested", "warning")
LONGEST_RECOUNT = 3600.0
DRAIN_SECONDS = 4.0
"""How long an old socket is kept open to acknowledge what came by it."""
_envelope = msgspec.json.Decoder(Envelope)


Take = Callable[[list[Envelope]], Awaitable[list[dict[str, Any] | None]]]
"""Returns the payload that acknowledges each, which may be empty; None: it is not acknowledged, and Slack sends it
again."""


class EventSocket(SocketModeClient):
    """One socket. It never reconnects by itself; the `SocketConnector` opens another."""

    def __init__(self, url: str, hear: Callable[["EventSocket", Envelope], None], ping: float) -> None:
        super().__init__(
            app_token="",
            logger=_quiet,
            web_client=AsyncWebClient(retry_handlers=[]),
            auto_reconnect_enabled=False,
            ping_interval=ping,
        )
        self.wss_uri = url
        self.connections = 0
        self.ended_because = ""
        self.over = asyncio.Event()
        self.greeted = asyncio.Event()
        self.unacknowledged = 0
        self._hear = hear
        self.on_close_listeners.append(self._closed)
        self.on_error_listeners.append(self._closed)

    async def enqueue_message(self, message: str) -> None:
        """Called by the SDK for each frame, in order; the SDK's own queue would handle them concurrently."""
        crashpoint("K1")
        try:
            envelope = _envelope.decode(message)
        except (msgspec.DecodeError, RecursionError) as problem:
            log.warning("Slack sent something that is not an envelope (%s); it is skipped", problem)
            return
        match envelope.type:
            case "hello":
                self.connections = envelope.num_connections
                self.greeted.set()
            case "disconnect":
                self.end(envelope.reason or "disconnect")
            case _ if envelope.envelope_id:
                self.unacknowledged += 1
                self._hear(self, envelope)
            case _:
                pass

    async def acknowledge(self, envelope: Envelope, payload: dict[str, Any] | None = None) -> None:
        said: dict[str, Any] = {"envelope_id": envelope.envelope_id}
        try:
            await self.send_message(msgspec.json.encode({**said, "payload": payload} if payload else said).decode())
        except (ConnectionError, aiohttp.ClientError, AttributeError) as problem:
            log.debug("it comes again: %s", problem)  # the message is stored, and will be recognised

    def end(self, reason: str) -> None:
        self.ended_because = self.ended_because or reason
        self.over.set()
        self.greeted.set()

    async def close(self) -> None:
        """Closes the HTTP session even if closing the socket fails; the SDK's own `close` would leave it open."""
        try:
            await super().close()
        except (OSError, aiohttp.ClientError) as problem:
            log.debug("a socket was not closed cleanly: %s", problem)
        finally:
            await self.aiohttp_client_session.close()

    async def is_alive(self) -> bool:
        return not self.over.is_set() and await self.is_connected()

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        self.end("closed")

    async def _closed(self, _: aiohttp.WSMessage) -> None:
        self.end("closed")


class SocketConnector:
    """Keeps one socket open, and passes on what arrives by it."""

    def __init__(self, name: str, calls: RetryingCalls, pace: Timings, catch_up: HistoryCatchUp) -> None:
        self._name = name
        self._calls = calls
        self._pace = pace
        self._catch_up = catch_up
        self._lines: list[EventSocket] = []
        self._made: list[EventSocket] = []  # all that are not closed yet
        self._queue: asyncio.Queue[tuple[EventSocket, Envelope]] = asyncio.Queue()
        self.last_sign: float | None = None
        self.trouble = ""
        self.ghosts = 0
        """How many sockets of this app are not ours; each takes a share of the events."""
        self._recount_after = pace.recount

    async def run(self, take: Take) -> None:
        """Runs for ever."""
        try:
            await together(self._keep_connected(), self._consume(take))
        finally:
            for line in [*self._made]:
                await self._close(line)

    # --- the socket ---------------------------------------------------------------------------------

    async def _keep_connected(self) -> None:
        while True:
            line = await self._connected()
            was_deaf = not [each for each in self._lines if await each.is_connected()]
            old, self._lines = self._lines, [line]
            self._count(line, old)
            if was_deaf:
                self._catch_up.close()
            await asyncio.gather(self._watch(line), *map(self._retire, old))
            if not await line.is_connected():
                self._catch_up.open()

    async def _connected(self) -> EventSocket:
        failures = 0
        while True:
            opened = await self._calls.ask("apps.connections.open")
            line = EventSocket(str(opened.result.get("url", "")), self._heard, self._pace.ping)
            self._made.append(line)
            try:
                async with asyncio.timeout(self._pace.connect):
                    await line.connect()
                    await line.greeted.wait()
            except (TimeoutError, aiohttp.ClientError, OSError) as problem:
                line.end(str(problem) or "no answer")
            if not line.over.is_set():
                self.last_sign = monotonic()
                self.trouble = ""
                return line
            await self._close(line)
            log.info("%s: the socket was not opened: %s", self._name, line.ended_because)
            if line.ended_because == TOO_MANY and not self.trouble:
                log.error("%s: %s", self._name, TOO_MANY_SENTENCE)
            self.trouble = TOO_MANY_SENTENCE if line.ended_because == TOO_MANY else ""
            failures += 1
            await asyncio.sleep(pause_after(failures, self._pace.first_pause, self._pace.longest_pause))

    async def _watch(self, line: EventSocket) -> None:
        """Returns when the socket has to be replaced. One reason is to learn whether other sockets are still there,
        which Slack says only to a new one: a process that hung and was replaced leaves its socket open for a while."""
        pinged = line.last_ping_pong_time
        recount_at = monotonic() + self._recount_after if self.ghosts else None
        while await line.is_alive():
            if recount_at is not None and monotonic() >= recount_at:
                self._recount_after = min(2 * self._recount_after, LONGEST_RECOUNT)
                return
            try:
                async with asyncio.timeout(self._pace.watch):
                    await line.over.wait()
            except TimeoutError:
                if line.last_ping_pong_time != pinged:
                    pinged, self.last_sign = line.last_ping_pong_time, monotonic()
        if not line.over.is_set():
            line.end("no sign of life")
        if line.ended_because and line.ended_because not in REFRESH:
            log.info("%s: the socket ended (%s); opening another", self._name, line.ended_because)

    async def _retire(self, line: EventSocket) -> None:
        """Closes an old socket when everything that came by it is acknowledged, or can no longer be."""
        until = monotonic() + DRAIN_SECONDS
        while line.unacknowledged > 0 and monotonic() < until and await line.is_connected():  # noqa: ASYNC110
            await asyncio.sleep(self._pace.watch / 10)
        await self._close(line)

    async def _close(self, line: EventSocket) -> None:
        self._made.remove(line)
        await line.close()

    def _count(self, line: EventSocket, old: list[EventSocket]) -> None:
        ours = 1 + sum(each.current_session is not None and not each.current_session.closed for each in old)
        before, self.ghosts = self.ghosts, max(0, line.connections - ours)
        self._catch_up.share(self.ghosts)
        if self.ghosts and not before:
            log.warning("%s: %s", self._name, GHOSTS)
        if before and not self.ghosts:
            log.info("%s: no other program takes a share of this app's messages any more", self._name)
            self._recount_after = self._pace.recount

    # --- what comes ---------------------------------------------------------------------------------

    def _heard(self, line: EventSocket, envelope: Envelope) -> None:
        self.last_sign = monotonic()
        self._queue.put_nowait((line, envelope))

    async def _consume(self, take: Take) -> None:
        while True:
            came = [await self._queue.get()]
            while not self._queue.empty():
                came.append(self._queue.get_nowait())
            answers = await take([envelope for _, envelope in came])
            for (line, envelope), answer in zip(came, answers, strict=True):
                line.unacknowledged -= 1
                if answer is not None:
                    await line.acknowledge(envelope, answer)
                    crashpoint("K5")


class SocketEventSource:
    listens_everywhere = False

    """Listens in Socket Mode."""

    def __init__(self, api: Api, pace: Timings) -> None:
        self._api = api
        self._pace = pace
        self._calls: RetryingCalls | None = None
        self._catch_up: HistoryCatchUp | None = None
        self._board: SocketConnector | None = None

    @property
    def trouble(self) -> str:
        told = [each.trouble for each in (self._calls, self._board, self._catch_up) if each is not None]
        return next(filter(None, told), GHOSTS if self._board is not None and self._board.ghosts else "")

    @property
    def last_sign(self) -> float | None:
        return self._board.last_sign if self._board is not None else None

    async def run(self, section: str, intake: Intake, reader: HistoryReader) -> None:
        calls = self._calls = RetryingCalls(section, self._api, self._pace, is_app_token=True)
        catch_up = self._catch_up = HistoryCatchUp(section, intake, reader, self._pace)
        board = self._board = SocketConnector(section, calls, self._pace, catch_up)

        async def take(envelopes: list[Envelope]) -> list[dict[str, Any] | None]:
            await catch_up.until_closed()
            return await intake.take(envelopes)

        await together(board.run(take), catch_up.watch())

    async def check(self, section: str, seconds: float) -> str:
        """Opens no socket: even a socket for a check would take a share of the events."""
        await RetryingCalls(section, self._api, self._pace, is_app_token=True).ask_once(
            "apps.connections.open", seconds
        )
        return "Socket Mode"

    async def close(self) -> None:
        await self._api.close()
