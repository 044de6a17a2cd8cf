"""Discord's gateway: sessions that remember what they sent, and can be resumed until they are ended."""

import asyncio
import itertools
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from aiohttp import WSMsgType, web
from msgspec import Struct

from rejoinder.testing.platform.discord.world import DIRECT, GUILD, Room, World, token_of
from rejoinder.testing.platform.faults import Faults

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11
MESSAGE_CONTENT = 1 << 15
INTERVAL = 41.25
PATH = "/gateway"


class Session(Struct, eq=False):
    id: str
    bot: str
    """Its name."""
    intents: int
    told: list[tuple[int, str, Any]] = []
    socket: web.WebSocketResponse | None = None
    late: tuple[str, Any] | None = None
    deaf: bool = False
    """The bot is connected, but nothing reaches it any more, and its heartbeats are not acknowledged."""
    unheard: bool = False
    """The bot gets all events, but its heartbeats are not acknowledged."""


class GatewayServer:
    def __init__(self, world: World, faults: Faults, log: Callable[[str, dict[str, Any]], None]) -> None:
        self._world = world
        self._faults = faults
        self._log = log
        self._numbers = itertools.count(1)
        self.sessions: dict[str, Session] = {}
        self.address = ""
        self.interval = INTERVAL
        self.content_granted = True
        """Whether the bots may read what people write."""
        self.describes = True
        """Whether the server is described right after a session begins; otherwise `describe` does it."""
        self.starts_left = 1000
        self.spacing = 0.0
        """Seconds between two sessions that a bot may begin; Discord has five."""
        self._began: dict[str, float] = {}
        self.somebody_listens = asyncio.Event()
        self._broken = 0
        self._hangs_up = 0
        self.open = 0
        """Connections that are."""

    # --- events -----------------------------------------------------------------------------------

    def tell(self, kind: str, body: dict[str, Any], room: Room | None = None, only: str = "") -> None:
        """Sends an event to all bots that can see it; `only`: only to this bot."""
        chat = self._world.chat_of(room) if room is not None else ""
        for session in list(self.sessions.values()):
            if (only and session.bot != only) or not self._sees(session, room):
                continue
            fault = self._faults.draw("event", chat) if kind == "MESSAGE_CREATE" else None
            if fault is not None and fault.kind == "reorder" and session.late is None:
                session.late = (kind, body)
                continue
            self._dispatch(session, kind, body)
            if fault is not None and fault.kind == "duplicate":
                self._dispatch(session, kind, body)
            if session.late is not None:
                late, session.late = session.late, None
                self._dispatch(session, *late)

    def _sees(self, session: Session, room: Room | None) -> bool:
        if room is None or room.type != DIRECT:
            return room is None or not room.closed
        return self._world.called(room.bot) == self._world.called(self._world.person(session.bot))

    def _dispatch(self, session: Session, kind: str, body: Any) -> None:
        number = session.told[-1][0] + 1 if session.told else 1
        session.told.append((number, kind, body))
        self._write(session, {"op": DISPATCH, "s": number, "t": kind, "d": body})

    def _write(self, session: Session, frame: dict[str, Any]) -> None:
        """Sends in order, without waiting: events that do not arrive are sent again when the session is resumed."""
        socket = session.socket
        if socket is None or session.deaf or socket.closed:
            return
        writer = getattr(socket, "_writer", None)
        transport = getattr(writer, "transport", None)
        if transport is not None and not transport.is_closing():
            transport.write(_framed(msgspec.json.encode(frame)))

    def describe(self) -> None:
        for session in self.sessions.values():
            self._dispatch(session, "GUILD_CREATE", self._world.guild(session.bot))

    # --- what goes wrong ----------------------------------------------------------------------------

    def break_off(self, *, refusing: int = 0) -> None:
        """Ends all connections, like a fault of the network; the next `refusing` ones are not accepted."""
        self._broken += refusing
        for session in self.sessions.values():
            self._abort(session)

    def hang_up(self, times: int) -> None:
        """The next connections, as many as this, are accepted and closed before anything is sent."""
        self._hangs_up = times

    def end_sessions(self) -> None:
        """Ends all connections; no session can be resumed."""
        self.break_off()
        self.sessions.clear()

    def forget_sessions(self) -> None:
        """No session can be resumed; connections stay as they are."""
        self.sessions.clear()

    def deafen(self, *, still_tells: bool = False) -> None:
        """From now on, no heartbeat is acknowledged; `still_tells`: events come nevertheless."""
        for session in self.sessions.values():
            session.deaf, session.unheard = not still_tells, still_tells

    def ask_to_reconnect(self) -> None:
        for session in self.sessions.values():
            self._write(session, {"op": RECONNECT, "d": None, "s": None, "t": None})

    def _abort(self, session: Session) -> None:
        socket, session.socket, session.deaf, session.unheard = session.socket, None, False, False
        transport = getattr(getattr(socket, "_req", None), "transport", None)
        if transport is not None:
            transport.abort()

    # --- connections --------------------------------------------------------------------------------

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if self._broken:
            self._broken -= 1
            return web.Response(status=502)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if self._hangs_up:
            self._hangs_up -= 1
            await socket.close(code=1001)
            return socket
        self.open += 1
        try:
            return await self._converse(socket)
        finally:
            self.open -= 1

    async def _converse(self, socket: web.WebSocketResponse) -> web.WebSocketResponse:
        await socket.send_json({"op": HELLO, "d": {"heartbeat_interval": int(self.interval * 1000)}, "s": None})
        session: Session | None = None
        with suppress(ConnectionError, asyncio.CancelledError):
            async for frame in socket:
                if frame.type is not WSMsgType.TEXT:
                    break
                said = msgspec.json.decode(frame.data)
                match said.get("op"):
                    case 1:
                        if session is None or not (session.deaf or session.unheard):
                            await socket.send_json({"op": ACK, "d": None, "s": None, "t": None})
                    case 2:
                        session = await self._identify(socket, said["d"])
                    case 6:
                        session = await self._resume(socket, said["d"])
                    case _:
                        await socket.close(code=4001)
        if session is not None and session.socket is socket:
            session.socket = None
            if socket.close_code in (1000, 1001):
                self.sessions.pop(session.id, None)
            self._log("CLOSED", {"session": session.id, "code": socket.close_code})
        return socket

    def _bot_of(self, token: str) -> str | None:
        names = (self._world.names[id] for id in self._world.bots)
        return next((name for name in names if token_of(name) == token), None)

    async def _identify(self, socket: web.WebSocketResponse, said: dict[str, Any]) -> Session | None:
        bot = self._bot_of(said.get("token", ""))
        if bot is None:
            await socket.close(code=4004, message=b"Authentication failed.")
            return None
        intents = int(said.get("intents", 0))
        if intents & MESSAGE_CONTENT and not self.content_granted:
            await socket.close(code=4014, message=b"Disallowed intent(s).")
            return None
        too_early = bot in self._began and time.monotonic() < self._began[bot] + self.spacing
        self._began[bot] = time.monotonic()
        if too_early:
            self._log("TOO EARLY", {"bot": bot})
            await socket.send_json({"op": INVALID, "d": False, "s": None, "t": None})
            return None
        session = Session(f"session-{next(self._numbers)}", bot, intents, socket=socket)
        self.sessions[session.id] = session
        self.starts_left -= 1
        self._log("IDENTIFY", {"bot": bot, "intents": intents})
        me = self._world.user(self._world.person(bot))
        ready = {"v": 10, "user": me, "guilds": [{"id": GUILD, "unavailable": True}], "session_id": session.id}
        application = {"id": me["id"], "flags": 1 << 19 if self.content_granted else 0}
        ready |= {"resume_gateway_url": self.address, "application": application, "private_channels": []}
        self._dispatch(session, "READY", ready)
        if self.describes:
            self._dispatch(session, "GUILD_CREATE", self._world.guild(bot))
        self.somebody_listens.set()
        return session

    async def _resume(self, socket: web.WebSocketResponse, said: dict[str, Any]) -> Session | None:
        session = self.sessions.get(said.get("session_id", ""))
        last = session.told[-1][0] if session is not None and session.told else 0
        self._log("RESUME", {"session": said.get("session_id"), "seq": said.get("seq"), "known": session is not None})
        if session is None or self._bot_of(said.get("token", "")) != session.bot or not 0 <= said["seq"] <= last:
            await socket.send_json({"op": INVALID, "d": False, "s": None, "t": None})
            return None
        self._abort(session)
        session.socket = socket
        for number, kind, body in session.told[said["seq"] :]:
            self._write(session, {"op": DISPATCH, "s": number, "t": kind, "d": body})
        self._dispatch(session, "RESUMED", {"_trace": []})
        return session


def _framed(content: bytes) -> bytes:
    """One text frame of a WebSocket, from a server."""
    size = len(content)
    if size < 126:
        head = bytes([0x81, size])
    elif size < 65_536:
        head = bytes([0x81, 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([0x81, 127]) + size.to_bytes(8, "big")
    return head + content
