"""Checks every request before anything else sees it.

Rule 1: the Host has to be one of ours: a foreign name whose DNS points here is refused.
Rule 2: a browser's request that changes something, or opens a socket, has to come from our own page.
Rule 3: if a login is needed, every request must have one, except for paths that reveal nothing (`/health`, `/ready`,
        the login page). People whom the owner invited may use the chat; everything else is only for the owner.
Rule 4: the size of a body is limited before and while it is read. Neither the body nor the reading of the answer may
        pause for long.
Rule 5: every answer has headers that keep a page from being framed, sniffed or injected.
Rule 6: requests through a proxy are counted here, by the address of its client; the listener counts all others.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing, suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rejoinder.channels.web.nouns import Person
from rejoinder.listener import OpenConnections
from rejoinder.web.access_check import AccessCheck, TooManyAttempts, WrongToken
from rejoinder.web.bodies import Bodies, larger
from rejoinder.web.login import COOKIE, is_owner, login_for
from rejoinder.web.refusal import refuse, refuse_with_page

OPEN = ("/health", "/ready", "/login", "/join/", "/static/")
FOR_GUESTS = ("/", "/socket", "/files", "/logout")
PERSON = "rejoinder.person"
"""The key in a request's scope for the person who has logged in; None: no login is needed."""
ANSWER_PAUSE = 30.0
"""Seconds that the client has to take a piece of the answer."""
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
MARKED = ("/api/", "/files")
MARK = "x-rejoinder"
"""A header that another site's page cannot send without a preflight; required at paths for only our own pages."""
HOLDER = "rejoinder.holder"
"""The key in a request's scope for the holder of its token, at a path with its own tokens."""
NO_TOKEN = "this needs a valid token of its own, see docs/programs.md: `Authorization: Bearer TOKEN`"
LOG_IN = "log in first; a program sends the token with each request: `Authorization: Bearer TOKEN`"

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "media-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Other sites learn nothing. Not `no-referrer`: a browser would then send our own form with `Origin: null`, and
    # nobody could log in.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        entrance: AccessCheck,
        hosts: Iterable[str],
        limits: Callable[[str], int],
        connections: OpenConnections,
    ) -> None:
        self._app = app
        self._entrance = entrance
        self._hosts = frozenset(host.casefold() for host in hosts)
        self._limits = limits
        self._connections = connections
        self._passing: Counter[str] = Counter()  # number of requests for each address that a proxy serves
        self._bodies = Bodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        client = scope.get("client")
        with self._connections.at_work(None if client is None else (client[0], client[1])):
            if client is None or not self._entrance.addresses.is_proxy(client[0]):
                await self._guard(scope, receive, send)
            else:
                await self._guard_proxied(scope, receive, send)

    async def _guard_proxied(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = self._entrance.addresses.of(scope)
        if self._passing[address] >= self._connections.limits.per_address:
            return await self._refuse(refuse(scope["path"], 429, "too many requests at once"), scope, receive, send)
        self._passing[address] += 1
        try:
            await self._guard(scope, receive, send)
        finally:
            self._passing[address] -= 1
            if not self._passing[address]:
                del self._passing[address]

    async def _guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        refusal = self._strange(scope, headers) or await self._unknown(scope, headers)
        if refusal is None and scope["type"] == "http":
            limit = self._limits(scope["path"])
            if (length := headers.get("content-length", "0")).isdecimal() and int(length) > limit:
                refusal = refuse(scope["path"], 413, larger(limit), {"connection": "close"})
            else:
                return await self._pass(scope, receive, _dressed(send), limit)
        if refusal is None:
            return await self._app(scope, receive, send)
        await self._refuse(refusal, scope, receive, send)

    @staticmethod
    async def _refuse(refusal: Response, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403, "reason": ""})  # before accept: HTTP 403
        else:
            await refusal(scope, receive, _dressed(send))

    def _strange(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuses a request that names another server or comes from another site."""
        host, path = headers.get("host", ""), scope["path"]
        if not self._is_ours(host):
            why = f"this server does not answer to the name {host!r}; if it should, add it to channels.web.hosts"
            # We show none of our pages here, but a person gets a sentence instead of JSON.
            return PlainTextResponse(f"{why}\n", 421) if is_for_a_person(headers) else refuse(path, 421, why)
        is_socket = scope["type"] == "websocket"
        if is_socket or scope["method"] in CHANGING:
            if not _is_same_site(headers, host):
                return refuse(path, 403, "this request comes from another site")
            has_own_token = path in self._entrance.own  # another site's page cannot send it
            if not is_socket and path.startswith(MARKED) and not has_own_token and MARK not in headers:
                return refuse(path, 403, f"this request lacks the header {MARK}")
        return None

    async def _unknown(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuses a request of somebody who may not make it. Notes in the scope who the person is."""
        path = scope["path"]
        scope[PERSON] = None
        if path in self._entrance.own:
            return await self._without_token(scope, headers)
        if path.startswith(OPEN) or not self._entrance.login.needed:
            return None
        try:
            person = await self._person(scope, headers)
        except TooManyAttempts:
            return _too_many(path)
        except WrongToken:
            person = None
        if person is None:
            is_read = scope["type"] == "http" and scope["method"] == "GET"
            if is_read and (path in ("/", "/console") or is_for_a_person(headers)):
                return RedirectResponse(login_for(path), 303)
            return refuse(path, 401, LOG_IN, {"www-authenticate": "Bearer"})
        if not is_owner(person) and path not in FOR_GUESTS and not path.startswith("/files/"):
            if is_for_a_person(headers):
                return refuse_with_page("guest.html", 403)
            return refuse(path, 403, "this is only for the owner; you are invited to the chat")
        scope[PERSON] = person
        return None

    async def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuses a request without a valid token of a program (never in a cookie). Notes the holder in the scope."""
        try:
            scope[HOLDER] = await self._entrance.holder(_bearer(headers) or "", scope)
        except TooManyAttempts:
            return _too_many(scope["path"])
        except WrongToken:
            return refuse(scope["path"], 401, NO_TOKEN, {"www-authenticate": "Bearer"})
        return None

    def _is_ours(self, host: str) -> bool:
        """Any IP address counts as ours: only names can be made to point here by others."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").casefold()
        except ValueError:
            return False
        if name in self._hosts:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True

    async def _person(self, scope: Scope, headers: Headers) -> Person | None:
        if (token := _bearer(headers)) is not None:
            return await self._entrance.by_token(token, scope)
        if (key := headers.get("x-api-key")) is not None:  # Anthropic's clients send it this way
            return await self._entrance.by_token(key, scope)
        return self._entrance.login.by_cookie(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))

    async def _pass(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        body = self._bodies.read(scope["path"], receive, limit)

        async def taken_up(message: Message) -> None:
            try:
                async with asyncio.timeout(ANSWER_PAUSE):
                    await send(message)
            except TimeoutError:
                raise ClientDisconnect from None

        with suppress(ClientDisconnect), closing(body):  # if the client is gone, nobody would read an answer
            await self._app(scope, body.receive, taken_up)


def _bearer(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else None


def _too_many(path: str) -> Response:
    return refuse(path, 429, "too many wrong tokens came from your address; wait a minute", {"retry-after": "60"})


def is_for_a_person(headers: Headers) -> bool:
    """Only a browser that opens a page asks for HTML explicitly; programs and our own scripts do not."""
    return "text/html" in headers.get("accept", "")


def _is_same_site(headers: Headers, host: str) -> bool:
    """A program sends neither header; a browser always says which page a request comes from."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc.casefold() == host.casefold()
    except ValueError:  # for example `http://[`
        return False


def _dressed(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return dressed
