"""The connection to Discord's gateway: kept open, resumed where possible, and replaced when it no longer receives
anything.

Rule 1: a session is resumed, even by another process, after the last event that is stored (CH-20). If Discord does not
        resume it, a new session begins, and the intake reads what was said meanwhile from the history.
Rule 2: a problem that only a person can fix stops the account, with a sentence that says how (CH-13). Everything else
        may pass: we try again after growing pauses.
Rule 3: if a heartbeat is not acknowledged in time, Discord does not receive what we send: the connection is replaced
        (CH-7).
"""

import asyncio
import logging
import random
import time
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import yarl
from discord.gateway import DiscordWebSocket, ReconnectWebSocket
from msgspec import Struct

import discord
from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.client import Client
from rejoinder.channels.discord.cursor import Cursor
from rejoinder.channels.discord.outcomes import SERVER_FAULT, TOO_MANY, UNAUTHORIZED, NotSent, Ok, Refused
from rejoinder.channels.discord.used_allowance import UsedAllowance
from rejoinder.channels.growing_pauses import pause_after
from rejoinder.channels.http_faults import is_ours, reason_of, unanswered
from rejoinder.errors import ChannelStopped

log = logging.getLogger(__name__)

REFUSED_TOKEN, WRONG_SHARD, MUST_SHARD, BAD_INTENTS, NO_INTENTS = 4004, 4010, 4011, 4013, 4014
RESUMABLE = 4000
"""Closing with this code keeps the session; 1000 would end it."""
DEAF_RATIO = 4 / 3
"""A heartbeat is sent once an interval and acknowledged at once. Without an acknowledgement the connection counts as
dead after 4/3 of the interval: 55 s with Discord's usual one."""
LATE_SECONDS = 1.0
"""How long frames that have already arrived are read before giving up: the acknowledgement may be among them."""
OPENING_SECONDS = 30.0
GOODBYE_SECONDS = 2.0
UNREACHABLE = (discord.HTTPException, aiohttp.ClientError, TimeoutError, OSError)
UNREADABLE = (ValueError, zlib.error)
"""What the SDK raises for a frame that is not Discord's."""

WRONG_TOKEN = (
    "Discord does not know this bot ({said}). Take the token from the page of your application "
    "(Bot, Reset Token) and set it as `token`."
)
MISSING_INTENTS = (
    "Discord does not let this bot read messages: switch on the Message Content Intent on the page "
    "of your application (Bot, Privileged Gateway Intents) and start again."
)
MANY_SERVERS = (
    "This bot is in more servers than one connection may serve, and sharding is not supported; remove it from some."
)
REFUSED = (
    "Discord refuses this bot for now ({said}); rejoinder keeps trying. If the token was changed, set the new one "
    "as `token` and start again."
)


class Timings(Struct, frozen=True):
    """All in seconds."""

    first_pause: float = 1.0
    longest_pause: float = 30.0
    guilds: float = 5.0
    """How long Discord may take to describe its servers after a new session."""
    sessions: float = 5.0
    """Discord lets a bot begin one session in this many seconds."""


class GatewayConnection:
    def __init__(
        self,
        section: str,
        client: Client,
        api: Api,
        pace: Timings,
        room: Callable[[], Awaitable[None]],
        spent: UsedAllowance,
    ) -> None:
        """`room` returns when there is room for another event."""
        self._section = section
        self._client = client
        self._api = api
        self._pace = pace
        self._room = room
        self._spent = spent
        self._failures = 0
        self._known = False  # Discord has taken this token before
        self.trouble = ""
        """Why Discord refuses this bot at the moment."""
        self.stale_after = 55.0

    # --- logging in ---------------------------------------------------------------------------------

    async def log_in(self, token: str, *, once: bool = False) -> None:
        """Asks until Discord answers. `once`: asks only once; then even a temporary problem raises ChannelStopped."""
        while True:
            try:
                await self._client.login(token)
            except discord.LoginFailure as no:
                self._not_known(str(no))
            except discord.HTTPException as no:
                self._refused(no, once=once)
            except (aiohttp.ClientError, TimeoutError, OSError) as problem:
                if once:
                    said = unanswered(f"Discord at {self._api.server}", reason_of(problem), ours=is_ours(problem))
                    raise ChannelStopped(said, self._section) from None
                self._complain(reason_of(problem), ours=is_ours(problem))
            else:
                self._known = True
                return
            await asyncio.sleep(self._pause())

    def _refused(self, no: discord.HTTPException, *, once: bool) -> None:
        if no.status == UNAUTHORIZED:
            return self._not_known(no.text)
        foreign = getattr(no, "foreign", False)
        if foreign and no.status < SERVER_FAULT and not self._known:
            raise ChannelStopped(
                f"What answers under this api_root is not Discord ({no.status}). "
                "Set the address of its API, or check for a proxy on the way to it.",
                self._section,
            )
        if once or (no.status < SERVER_FAULT and no.status != TOO_MANY and not self._known):
            raise ChannelStopped(f"Discord does not serve this bot: {no.text or no.status}", self._section)
        self._complain(no.text or str(no.status))

    def _not_known(self, said: str) -> None:
        if not self._known:
            raise ChannelStopped(WRONG_TOKEN.format(said=said), self._section)
        told = REFUSED.format(said=said)
        if self.trouble != told:
            log.error("%s: %s", self._section, told)
            self.trouble = told

    # --- being connected ----------------------------------------------------------------------------

    @property
    def last_sign(self) -> float | None:
        """When Discord last acknowledged a heartbeat, by `time.monotonic`."""
        beating = _heart(self._client.ws)
        return None if beating is None else time.monotonic() - (time.perf_counter() - beating._last_ack)

    async def run(self, kept: Cursor | None) -> None:
        """Runs until it is cancelled; the client receives the events. `kept`: the session to resume."""
        session = kept if kept is not None and kept.session else None
        while True:
            try:
                await self._open(session)
                session = await self._listen()
            except (*UNREACHABLE, *UNREADABLE) as problem:
                self._complain(reason_of(problem), ours=is_ours(problem))
                session = self._session() or session
                await asyncio.sleep(self._pause())

    async def _open(self, session: Cursor | None) -> None:
        if session is None:
            address = await self._address()
            await asyncio.sleep(self._spent.wait_for_session(self._pace.sessions))
            self._spent.session_begins()
            how: dict[str, Any] = {"initial": True}
        else:
            address = session.address
            how = {"resume": True, "session": session.session, "sequence": session.sequence}
        opening = DiscordWebSocket.from_client(self._client, gateway=yarl.URL(address), **how)
        try:
            self._client.ws = await asyncio.wait_for(opening, OPENING_SECONDS)
        except (ReconnectWebSocket, discord.ConnectionClosed) as ended:
            raise ConnectionError("the connection ended before Discord said hello") from ended
        except BaseException:
            await self.hang_up()
            raise
        interval = getattr(_heart(self._client.ws), "interval", None)
        self.stale_after = DEAF_RATIO * (interval or 41.25)

    async def _listen(self) -> Cursor | None:
        """Returns what to resume when the connection ends; None: begin a new session."""
        ws: Any = self._client.ws
        late: float | None = None
        try:
            while True:
                await self._room()
                patience, now = self._patience(), time.monotonic()
                late = None if patience > 0 else late or now
                if late is not None and now - late > LATE_SECONDS:  # events arrive, but our heartbeats do not
                    raise ReconnectWebSocket(None)
                ws._max_heartbeat_timeout = max(0.01, patience)
                await ws.poll_event()
                self._works()
        except ReconnectWebSocket as again:
            if not again.resume:
                log.info("%s: Discord begins a new session", self._section)
                await asyncio.sleep(random.uniform(0.2, 1.0) * self._pace.first_pause)
                return None
            log.info("%s: the connection to Discord is replaced", self._section)
            return self._session()
        except discord.ConnectionClosed as closed:
            return await self._closed(closed.code)
        finally:
            await self.hang_up()

    def _patience(self) -> float:
        """Seconds that are left until the connection counts as dead; each acknowledged heartbeat renews them."""
        last = self.last_sign
        return self.stale_after - (time.monotonic() - last) if last is not None else self.stale_after

    async def _closed(self, code: int) -> Cursor | None:
        if code in (BAD_INTENTS, NO_INTENTS):
            raise ChannelStopped(MISSING_INTENTS, self._section)
        if code in (WRONG_SHARD, MUST_SHARD):
            raise ChannelStopped(MANY_SERVERS, self._section)
        if code == REFUSED_TOKEN:
            self._not_known("its gateway refuses the token")
        await asyncio.sleep(self._pause())
        return None

    async def _address(self) -> str:
        """The address to connect to. Waits if the bot has used up the sessions that Discord allows in a day (CH-28)."""
        while True:
            answer = await self._api.call("GET", "/gateway/bot")
            if isinstance(answer, Ok):
                limit = answer.result.get("session_start_limit", {})
                if limit.get("remaining", 1) > 0:
                    return answer.result["url"]
                seconds = limit.get("reset_after", 0) / 1000
                self.trouble = (
                    f"this bot has used up the sessions that Discord allows in a day; it waits {seconds:.0f} s"
                )
                log.error("%s: %s", self._section, self.trouble)
                await asyncio.sleep(max(seconds, self._pace.first_pause))
                continue
            if isinstance(answer, Refused):
                if answer.status == UNAUTHORIZED:
                    self._not_known(answer.said)
                else:
                    self._complain(answer.said)
            elif isinstance(answer, NotSent):
                self._complain(answer.reason, ours=answer.ours)
            else:
                self._complain("no answer")
            await asyncio.sleep(self._pause())

    def _session(self) -> Cursor | None:
        """The session as it is now. Its events so far are in memory, so they need not come again."""
        ws: Any = self._client.ws
        if not isinstance(ws, DiscordWebSocket) or not ws.session_id:
            return None
        return Cursor(ws.session_id, ws.sequence or 0, str(ws.gateway))

    async def hang_up(self) -> None:
        """Leaves the session to be resumed."""
        ws = self._client.opened
        if ws is not None and ws.open:
            try:
                await asyncio.wait_for(ws.close(RESUMABLE), GOODBYE_SECONDS)
            except (aiohttp.ClientError, TimeoutError, OSError) as problem:
                log.debug("%s: %s", self._section, problem)
        if (beating := _heart(ws)) is not None:
            beating.stop()

    # --- trouble ------------------------------------------------------------------------------------

    def _works(self) -> None:
        if self._failures or self.trouble:
            log.info("%s: Discord answers again", self._section)
        self._failures, self.trouble = 0, ""

    def _complain(self, reason: str, *, ours: bool = False) -> None:
        if not self._failures and not self.trouble:
            log.warning("%s: %s; trying until it works", self._section, unanswered("Discord", reason, ours=ours))

    def _pause(self) -> float:
        self._failures += 1
        return pause_after(self._failures, self._pace.first_pause, self._pace.longest_pause)


def _heart(ws: Any) -> Any:
    """The SDK's thread that sends the heartbeats of a connection; None before there is one."""
    return getattr(ws, "_keep_alive", None)
