"""discord.py's HTTP client without its own retries and waits: one request is one attempt (CH-29).

discord.py's own client tries five times, sleeps, and has one API address for the whole process. This one reports a
refusal, a limit or a broken connection at once, and each account has its own API address.
"""

import time
from collections.abc import Iterable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, cast

import aiohttp
import msgspec
from discord.http import HTTPClient, Route

import discord
from rejoinder.channels.discord.budget import RateBudget, refusals_at, seconds_in
from rejoinder.channels.discord.outcomes import TOO_MANY
from rejoinder.channels.discord.used_allowance import UsedAllowance
from rejoinder.channels.http_client import load_file
from rejoinder.channels.http_faults import proxy_for, server_of, timeout
from rejoinder.channels.multipart import Form
from rejoinder.crashpoint import answer_unread

VERSION = "v10"
CALL_SECONDS = 30.0
GOODBYE_SECONDS = 2.0
"""How long to wait for the close of a connection that is given up: a dead peer never answers it."""
KEPT_SECONDS = 15.0
"""Idle connections are kept only this long: if Discord has closed one meanwhile, nobody knows whether a message sent on
it arrived."""
SHUT_OUT_SECONDS = 60.0
"""How long to stay away if the answer does not say."""
SLOWEST = 100_000.0
"""Bytes a second: an upload gets the time that it would need at this speed."""


class RefusedCall(discord.HTTPException):
    """Discord's refusal, with what it said about its limits."""

    def __init__(self, response: Any, data: Any, *, retry_after: float | None = None, everywhere: bool = False) -> None:
        is_ours = isinstance(data, dict)
        super().__init__(response, cast("dict[str, Any]", data) if is_ours else str(data or ""))
        self.retry_after = retry_after
        self.everywhere = everywhere
        self.foreign = not is_ours


class _NotRequested:
    """Takes the place of a response when Discord has said to wait, so that no request was made."""

    status = TOO_MANY
    reason = "Too Many Requests"


class SingleAttemptClient(HTTPClient):
    def __init__(self, root: str, seconds: float = CALL_SECONDS) -> None:
        proxy, auth = proxy_for(root)
        super().__init__(cast(Any, None), proxy=proxy, proxy_auth=auth)
        self._root = f"{root.rstrip('/')}/{VERSION}"
        self._seconds = seconds
        self._budget = RateBudget(refusals_at(self._root))
        self.allowance = UsedAllowance(self._budget.refusals)
        self.clock_ahead = 0.0
        """How many seconds Discord's clock is ahead of ours."""

    @property
    def _session(self) -> aiohttp.ClientSession:
        return getattr(self, "_HTTPClient__session")  # noqa: B009 - the SDK gives it no other name

    @property
    def server(self) -> str:
        """The server's address, for messages to people."""
        return server_of(self._root)

    @property
    def has_logged_in(self) -> bool:
        """Before the login there is no session to call with."""
        session: Any = self._session
        return isinstance(session, aiohttp.ClientSession) and not session.closed

    async def static_login(self, token: str) -> Any:
        await self.close()
        self.connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_SECONDS)
        return await super().static_login(token)

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        return await self._session.ws_connect(
            url,
            proxy=self.proxy,
            proxy_auth=self.proxy_auth,
            max_msg_size=0,
            timeout=cast(Any, aiohttp.ClientWSTimeout)(ws_close=GOODBYE_SECONDS),
            autoclose=False,
            headers={"User-Agent": self.user_agent},
            compress=compress,
        )

    async def request(
        self,
        route: Route,
        *,
        files: Sequence[Any] | None = None,
        form: Iterable[dict[str, Any]] | None = None,
        upload: Form | None = None,
        **kwargs: Any,
    ) -> Any:
        key, major = route.key, route.major_parameters
        if (left := self._budget.wait(key, major, time.monotonic())) > 0:
            said = {"message": f"Discord has said to wait for {left:.1f} s more"}
            raise RefusedCall(_NotRequested, said, retry_after=left)
        seconds = kwargs.pop("seconds", None) or self._seconds
        headers = {"User-Agent": self.user_agent}
        if self.token is not None:
            headers["Authorization"] = "Bot " + self.token
        if "json" in kwargs:
            headers["Content-Type"] = "application/json"
            kwargs["data"] = msgspec.json.encode(kwargs.pop("json"))
        elif upload is not None:
            headers |= {"Content-Type": upload.content_type, "Content-Length": str(upload.size)}
            kwargs["data"] = upload.pieces()
            seconds += upload.size / SLOWEST
        elif form is not None:
            kwargs["data"] = _form(form)
        kwargs.pop("reason", None)
        url = self._root + route.url.removeprefix(Route.BASE)
        async with self._session.request(
            route.method,
            url,
            headers=headers,
            proxy=self.proxy,
            proxy_auth=self.proxy_auth,
            timeout=timeout(seconds),
            allow_redirects=False,
            **kwargs,
        ) as response:
            answer_unread()
            return self._read(response, await response.read(), key, major)

    def _read(self, response: aiohttp.ClientResponse, body: bytes, key: str, major: str) -> Any:
        now, status = time.monotonic(), response.status
        try:
            data: Any = msgspec.json.decode(body) if body else None
        except msgspec.DecodeError:
            if 200 <= status < 300:  # not JSON: nobody knows whether Discord has seen the request
                raise aiohttp.ClientPayloadError(f"the answer with status {status} is not Discord's") from None
            data = body[:200].decode(errors="replace")
        self._budget.note(key, major, response.headers, now)
        self._budget.count(status, response.headers.get("X-RateLimit-Scope", ""), now)
        self._compare_clocks(response.headers)
        if 200 <= status < 300:
            return data
        self.allowance.call_was_refused()
        if status != TOO_MANY:
            raise RefusedCall(response, data)
        if not isinstance(data, dict):  # the proxy in front of Discord shuts out this IP address with all its bots
            wait = seconds_in(response.headers.get("Retry-After", "")) or SHUT_OUT_SECONDS
            self._budget.shut_out(wait, now)
            raise RefusedCall(response, data, retry_after=wait, everywhere=True)
        told = cast("dict[str, Any]", data)
        wait, everywhere = float(told.get("retry_after", 1.0)), bool(told.get("global"))
        self._budget.close(key, major, wait, now, everywhere=everywhere)
        raise RefusedCall(response, told, retry_after=wait, everywhere=everywhere)

    def _compare_clocks(self, headers: Any) -> None:
        if (written := headers.get("Date")) is not None:
            ahead = parsedate_to_datetime(written).timestamp() - time.time()
            self.clock_ahead = ahead if abs(ahead) > 2.0 else 0.0  # the header has a resolution of one second

    async def load(self, url: str, limit: int) -> bytes | str:
        """The file at this address, or why it could not be loaded. The token is not sent along."""
        session = self._session
        async with session.get(
            url, proxy=self.proxy, proxy_auth=self.proxy_auth, timeout=timeout(self._seconds), allow_redirects=False
        ) as response:
            return await load_file(response, limit)


def _form(fields: Iterable[dict[str, Any]]) -> aiohttp.FormData:
    data = aiohttp.FormData(quote_fields=False)  # Discord does not read escaped brackets in the names of fields
    for field in fields:
        data.add_field(**field)
    return data
