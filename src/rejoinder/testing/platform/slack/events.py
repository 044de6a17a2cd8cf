"""The events of one app: sent to one of its sockets, or to its request URL, until they are acknowledged; given up after
three more tries, as Slack does."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import aiohttp
import msgspec
from aiohttp import web
from msgspec import Struct

from rejoinder.testing.platform.faults import Faults
from rejoinder.testing.platform.slack.world import APP, BOT_USER, SIGNING_SECRET, TEAM, World

MOST_TRIES = 4
MOST_SOCKETS = 10
RETRY_SECONDS = 0.05
HTTP_RETRIES = (RETRY_SECONDS, 1.0, 5.0)
"""Slack tries again at once, after a minute and after five; the fake is sixty times as fast."""


class Going(Struct):
    """An event on its way to the app; `number`: its position among all events."""

    kind: str
    payload: dict[str, Any]
    tries: int = 0
    number: int = 0
    answer: dict[str, Any] | None = None


class Socket:
    """A connection of the app. A ghost belongs to another program: it takes its share of the events."""

    def __init__(self, line: web.WebSocketResponse | None, transport: asyncio.Transport | None = None) -> None:
        self.line = line
        self.transport = transport
        self.waiting: list[asyncio.Future[dict[str, Any]]] = []

    @property
    def is_open(self) -> bool:
        return self.line is None or not self.line.closed


class Events:
    def __init__(self, world: World, faults: Faults, options: dict[str, Any]) -> None:
        self.subscribed = bool(options.get("subscribed", True))
        self.socket_mode = bool(options.get("socket_mode", True))
        self.events_url: str = options.get("events_url", "")
        """The address for signed events; empty: events go to the app's sockets."""
        self.acknowledged: list[tuple[str, float]] = []
        """The kind of each acknowledged event, and how long it took."""
        self.lost: list[Going] = []
        self.bot_user = BOT_USER
        """The bot user of the installation that events are for."""
        self.sent = 0
        self.retried = 0
        self.opened = 0
        """How many sockets were opened so far."""
        self.answers: list[dict[str, Any]] = []
        """Payloads that came with acknowledgements."""
        self._world = world
        self._faults = faults
        self._ack_seconds = float(options.get("ack_seconds", 3.0))
        self._sockets: list[Socket] = []
        self._next = 0
        self._waiting: dict[str, tuple[Going, asyncio.Future[dict[str, Any]]]] = {}
        self._undelivered: list[Going] = []
        self._late: Going | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._tickets: set[str] = set()
        self._numbers = count(1)
        self._in_order = asyncio.Lock()
        self.changed: Callable[[], None] = lambda: None

    # --- what there is to tell ----------------------------------------------------------------------

    def event(self, inside: dict[str, Any], chat: str) -> None:
        if not self.subscribed:
            return
        fault = self._faults.draw("event", chat)
        if self._faults.draw("poll", chat) is not None:
            self.break_sockets()
        payload = self._wrapped(inside)
        if fault is not None and fault.kind == "reorder" and self._late is None:
            self._late = Going("events_api", payload)
            return
        self.push(Going("events_api", payload))
        if fault is not None and fault.kind == "duplicate":
            self.push(Going("events_api", self._wrapped(inside)))
        if self._late is not None:
            late, self._late = self._late, None
            self.push(late)

    def _wrapped(self, inside: dict[str, Any]) -> dict[str, Any]:
        return {
            "token": "old",
            "team_id": TEAM,
            "api_app_id": APP,
            "event": inside,
            "type": "event_callback",
            "event_id": f"Ev{next(self._numbers):08d}",
            "event_time": int(time.time()),
            "authorizations": [{"team_id": TEAM, "user_id": self.bot_user, "is_bot": True}],
            "is_ext_shared_channel": False,
        }

    def push(self, going: Going) -> None:
        self.sent += 1
        going.number = self.sent
        self._start(going)

    def _start(self, going: Going) -> None:
        task = asyncio.get_running_loop().create_task(self._deliver(going))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def unacknowledged(self) -> int:
        return len(self._waiting) + len(self._undelivered)

    # --- on its way ---------------------------------------------------------------------------------

    async def _deliver(self, going: Going) -> None:
        began = time.monotonic()
        answered = await (self._by_http(going) if self.events_url else self._by_socket(going))
        if answered:
            self.acknowledged.append((going.kind, time.monotonic() - began))
            self.changed()
            return
        going.tries += 1
        if going.kind != "events_api" or going.tries >= MOST_TRIES:
            self.lost.append(going)
            self.changed()
            return
        if not self.events_url and not self._open():
            self._undelivered.append(going)
            return
        self.retried += 1
        await asyncio.sleep(HTTP_RETRIES[going.tries - 1] if self.events_url else RETRY_SECONDS)
        self._start(going)

    async def _by_socket(self, going: Going) -> bool:
        sockets = self._open()
        if not sockets:
            return False
        self._next += 1
        socket = sockets[self._next % len(sockets)]
        if socket.line is None:
            return True  # a ghost has taken it
        id = f"envelope-{next(self._numbers)}"
        envelope: dict[str, Any] = {"envelope_id": id, "type": going.kind, "payload": going.payload}
        envelope["accepts_response_payload"] = going.kind != "events_api"
        if going.tries:
            envelope |= {"retry_attempt": going.tries, "retry_reason": "timeout"}
        done: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[id] = (going, done)
        socket.waiting.append(done)
        try:
            await socket.line.send_str(msgspec.json.encode(envelope).decode())
            async with asyncio.timeout(self._ack_seconds):
                going.answer = await done
        except (TimeoutError, ConnectionError, aiohttp.ClientError):
            return False
        finally:
            self._waiting.pop(id, None)
        if going.answer:
            self.answers.append(going.answer)
        return True

    async def _by_http(self, going: Going) -> bool:
        form = going.kind != "events_api"
        encoded = msgspec.json.encode(going.payload)
        if form:
            fields = {"payload": encoded.decode()} if going.kind == "interactive" else going.payload
            body = aiohttp.FormData(fields)().decode("utf-8").encode()  # type: ignore[union-attr]
        else:
            body = encoded
        async with self._in_order, aiohttp.ClientSession() as session:
            headers = signed(body, SIGNING_SECRET, int(time.time()))
            headers["Content-Type"] = "application/x-www-form-urlencoded" if form else "application/json"
            if going.tries:
                headers |= {"X-Slack-Retry-Num": str(going.tries), "X-Slack-Retry-Reason": "http_timeout"}
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                async with asyncio.timeout(self._ack_seconds):
                    async with session.post(self.events_url, data=body, headers=headers) as answer:
                        said = await answer.read()
                        if answer.status == 200 and said[:1] == b"{":
                            self.answers.append(msgspec.json.decode(said))
                        return answer.status == 200
        return False

    # --- sockets ------------------------------------------------------------------------------------

    def _open(self) -> list[Socket]:
        self._sockets = [socket for socket in self._sockets if socket.is_open]
        return self._sockets

    def ticket(self) -> str:
        ticket = f"ticket-{next(self._numbers)}"
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403)
        self._tickets.discard(ticket)
        line = web.WebSocketResponse(autoping=True)
        await line.prepare(request)
        if len(self._open()) >= MOST_SOCKETS:
            await line.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await line.close()
            return line
        socket = Socket(line, request.transport)
        await line.send_json(
            {
                "type": "hello",
                "num_connections": len(self._open()) + 1,
                "connection_info": {"app_id": APP},
                "debug_info": {"approximate_connection_time": 18060},
            }
        )
        self._open().append(socket)  # from now on, so that new events do not overtake earlier ones
        self.opened += 1
        again, self._undelivered = self._undelivered, []
        for going in sorted(again, key=lambda each: each.number):
            self.retried += 1
            self._start(going)
        self.changed()
        async for message in line:
            if message.type is aiohttp.WSMsgType.TEXT:
                said = msgspec.json.decode(message.data)
                if (known := self._waiting.get(said.get("envelope_id", ""))) is not None and not known[1].done():
                    known[1].set_result(said.get("payload") or {})
        self._give_back(socket)
        return line

    def _give_back(self, socket: Socket) -> None:
        """Events that were sent to a socket that has ended can no longer be acknowledged."""
        for _, done in [each for each in self._waiting.values() if each[1] in socket.waiting]:
            if not done.done():
                done.set_exception(ConnectionError("the socket has ended"))

    async def ask_to_refresh(self) -> None:
        """Slack announces that it will close the sockets in a moment."""
        for socket in list(self._open()):
            if socket.line is not None:
                await socket.line.send_json({"type": "disconnect", "reason": "refresh_requested"})

    async def turn_socket_mode_off(self) -> None:
        """Changes the settings of the app while it is connected."""
        self.socket_mode = False
        for socket in list(self._open()):
            if socket.line is not None:
                await socket.line.send_json({"type": "disconnect", "reason": "link_disabled"})
                await socket.line.close()

    def break_sockets(self) -> None:
        """Cuts the network connection of all sockets."""
        for socket in self._open():
            if socket.transport is not None:
                socket.transport.abort()
        self._sockets = [socket for socket in self._sockets if socket.line is None]

    def add_ghost(self) -> Socket:
        ghost = Socket(None)
        self._sockets.append(ghost)
        return ghost

    def remove_ghosts(self) -> None:
        self._sockets = [socket for socket in self._sockets if socket.line is not None]

    def forget_undelivered(self) -> None:
        """Slack has given up these events: only history has them."""
        self.lost += self._undelivered
        self._undelivered = []

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for socket in self._open():
            if socket.line is not None:
                await socket.line.close()


def signed(body: bytes, secret: str, now: int) -> dict[str, str]:
    base = b"v0:%d:%s" % (now, body)
    signature = "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(now), "X-Slack-Signature": signature}
