"""The pages themselves (plain files of the package), and the usual paths of a server: health, metrics, login."""

import hashlib
import mimetypes
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_plus

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from rejoinder.errors import StoreUnavailable
from rejoinder.web.access_check import AccessCheck, WrongToken
from rejoinder.web.guard import is_for_a_person
from rejoinder.web.login import BEHIND_LOGIN, COOKIE, LASTS, is_owner, login_for
from rejoinder.web.metrics import Metrics
from rejoinder.web.refusal import STATIC, refuse, refuse_with_page
from rejoinder.web.services import ChannelState, PageServices

PAGES = {"/": "index.html", "/console": "console.html", "/login": "login.html"}
LONGEST_TOKEN = 1000
FORM = "application/x-www-form-urlencoded"


def routes(services: PageServices, entrance: AccessCheck, metrics: Metrics) -> list[BaseRoute]:
    # The files that can be requested are listed here once: no path of a request ever reaches the file system.
    files = {str(path.relative_to(STATIC)): path for path in STATIC.rglob("*") if path.is_file()}

    def serve(name: str, request: Request) -> Response:
        path = files.get(name)
        if path is None:
            return not_found(request)
        content = path.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        headers = {"etag": tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=mimetypes.guess_type(name)[0])

    async def page(request: Request) -> Response:
        return serve(PAGES[request.url.path], request)

    async def static(request: Request) -> Response:
        return serve(request.path_params["path"], request)

    async def show_login(request: Request) -> Response:
        if token := request.query_params.get("token"):
            return await _let_in(entrance, token, request)
        if not entrance.login.needed:
            return RedirectResponse("/", 303)
        return serve(PAGES["/login"], request)

    async def join(request: Request) -> Response:
        return await _let_in(entrance, request.path_params["token"], request, "wrong=link")

    async def take_login(request: Request) -> Response:
        body = (await request.body()).decode("utf-8", "replace")
        token = body[:LONGEST_TOKEN].removeprefix("token=").strip()
        if request.headers.get("content-type", "").startswith(FORM):  # sent by a program: our own form sends valid data
            token = unquote_plus(token)
        return await _let_in(entrance, token, request)

    async def log_out(_: Request) -> Response:
        """With the login, the browser's data from this server is cleared, too."""
        answer = RedirectResponse("/login", 303, {"clear-site-data": '"cache", "storage"'})
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer

    async def troubles() -> list[str]:
        store = await services.health()
        whole = store.sentence if store.fault else "", services.disagrees()
        return [*filter(None, whole), *filter(None, map(_trouble, services.channels()))]

    async def health(_: Request) -> Response:
        """The process is alive, so 200: a restart would not help, for example with a full disk. The answer lists
        problems (DU-15), answers that did not or may not have arrived (DU-3), and quarantined things (DU-2)."""
        problems = await troubles()
        status = "trouble" if problems else "ok"
        counts: dict[str, int] = {}
        with suppress(StoreUnavailable):
            load = await services.store.workload()
            counts = {"unconfirmed": load.parts.get("held", 0), "not_delivered": load.parts.get("dead", 0)}
            counts["quarantined"] = load.quarantined
        signs = {each.name: round(each.silent_for, 1) for each in services.channels() if each.silent_for is not None}
        places = [f"{each.name}: {sentence}" for each in services.channels() for sentence in each.places]
        report: dict[str, Any] = {"status": status, "version": services.version, "problems": problems, **counts}
        report |= {"last_sign_seconds": signs} if signs else {}
        return JSONResponse({**report, "places": places} if places else report)

    async def ready(_: Request) -> Response:
        problems = await troubles()
        return JSONResponse({"ready": not problems, "problems": problems}, 503 if problems else 200)

    async def show_metrics(_: Request) -> Response:
        return Response(await metrics.text(services), media_type="text/plain; version=0.0.4; charset=utf-8")

    return [
        Route("/", page),
        Route("/console", page),
        Route("/login", show_login, methods=["GET"]),
        Route("/login", take_login, methods=["POST"]),
        Route("/join/{token}", join),
        Route("/logout", log_out, methods=["POST"]),
        Route("/static/{path:path}", static),
        Route("/health", health),
        Route("/ready", ready),
        Route("/metrics", show_metrics),
    ]


def not_found(request: Request) -> Response:
    """A person gets a page, a program a line it can read."""
    if is_for_a_person(request.headers):
        return refuse_with_page("lost.html", 404)
    return refuse(request.url.path, 404, "there is nothing here")


def _trouble(channel: ChannelState) -> str:
    if channel.problem:
        return f"{channel.name}: {channel.problem}"
    return "" if channel.listening else f"{channel.name} is not listening"


async def _let_in(entrance: AccessCheck, token: str, request: Request, otherwise: str = "wrong") -> Response:
    """`otherwise`: what the login page says about a token that belongs to nobody."""
    wanted = f"/{request.query_params.get('to', '')}"
    page = wanted if wanted in BEHIND_LOGIN else "/"
    if not entrance.login.needed:
        return RedirectResponse(page, 303)
    try:
        person = await entrance.by_token(token, request.scope)
    except WrongToken:
        again = login_for(page)
        return RedirectResponse(f"{again}{'&' if '?' in again else '?'}{otherwise}", 303)
    answer = RedirectResponse(page if is_owner(person) else "/", 303)
    secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
    cookie = entrance.login.cookie(person)
    answer.set_cookie(COOKIE, cookie, max_age=LASTS, httponly=True, samesite="strict", secure=secure)
    return answer
