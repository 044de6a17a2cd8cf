"""What every request passes before anything else looks at it.

Rule 1: the Host has to be one of ours: a foreign name whose DNS points here is refused.
Rule 2: a browser's request that changes something, or opens a socket, has to come from our own page.
Rule 3: where a login is needed, a request has one, except for what tells nothing (`/health`, `/ready`, the login page).
Rule 4: the size of a body is limited before it is read, and while it is read.
Rule 5: every answer carries the headers that keep a page from being framed, sniffed or injected.
"""

from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rejoinder.web.login import COOKIE, Login, login_for
from rejoinder.web.refusal import refuse

OPEN = ("/health", "/ready", "/login", "/static/")
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
MARKED = ("/api/", "/files")
MARK = "x-rejoinder"
"""A header that the page of another site cannot send without a preflight; required where only our pages call."""
LOG_IN = "log in first; a program sends the token with each request: `Authorization: Bearer TOKEN`"

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "media-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Other sites are told nothing. Not `no-referrer`: with it a browser would send our own form with `Origin: null`,
    # and nobody could log in.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    def __init__(self, app: ASGIApp, login: Login, hosts: Iterable[str], limits: Callable[[str], int]) -> None:
        self._app = app
        self._login = login
        self._hosts = frozenset(host.casefold() for host in hosts)
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is None and scope["type"] == "http":
            limit = self._limits(scope["path"])
            if (length := headers.get("content-length", "0")).isdecimal() and int(length) > limit:
                refusal = refuse(scope["path"], 413, _larger(limit), {"connection": "close"})
            else:
                return await self._pass(scope, receive, _dressed(send), limit)
        if refusal is None:
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403, "reason": ""})  # before accept: HTTP 403
        else:
            await refusal(scope, receive, _dressed(send))

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host, path = headers.get("host", ""), scope["path"]
        if not self._is_ours(host):
            why = f"this server is not called {host!r}; name it in channels.web.hosts if it should be"
            # No page of ours is shown here, but a person gets a sentence and no JSON.
            return PlainTextResponse(f"{why}\n", 421) if is_for_a_person(headers) else refuse(path, 421, why)
        is_socket = scope["type"] == "websocket"
        if is_socket or scope["method"] in CHANGING:
            if not _is_same_site(headers, host):
                return refuse(path, 403, "this request comes from another site")
            if not is_socket and path.startswith(MARKED) and MARK not in headers:
                return refuse(path, 403, f"this request lacks the header {MARK}")
        if path.startswith(OPEN) or self._is_in(headers):
            return None
        if not is_socket and scope["method"] == "GET" and (path in ("/", "/console") or is_for_a_person(headers)):
            return RedirectResponse(login_for(path), 303)
        return refuse(path, 401, LOG_IN, {"www-authenticate": "Bearer"})

    def _is_ours(self, host: str) -> bool:
        """Any IP address is ours: only a name can be pointed here by others."""
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

    def _is_in(self, headers: Headers) -> bool:
        if not self._login.needed:
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.casefold() == "bearer":
            return self._login.takes(token.strip())
        return self._login.knows(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))

    async def _pass(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:  # the reader of the body answers so, and keeps nothing of it
                raise HTTPException(413, _larger(limit), {"connection": "close"})
            return message

        await self._app(scope, counted, send)


def is_for_a_person(headers: Headers) -> bool:
    """Only a browser that opens a page asks for HTML by name; programs and our own scripts do not."""
    return "text/html" in headers.get("accept", "")


def _is_same_site(headers: Headers, host: str) -> bool:
    """A program sends neither header; a browser always tells where a page comes from."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.casefold() == host.casefold()


def _larger(limit: int) -> str:
    return f"this is larger than {limit} bytes"


def _dressed(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return dressed
