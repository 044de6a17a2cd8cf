"""The platform as a separate program, which goes on when a gateway is killed, and how a test reaches it.

POST /control/say      {"chat": ..., "person": ..., "text": ...}      -> {"id": ...}
POST /control/fault    a Fault
POST /control/rate     {"on": ..., "kind": ..., "probability": ...}
GET  /control/frames?since=N, /control/calls?since=N                   -> what came after the first N
GET  /control/config   -> the lines of [channels.NAME]
GET  /control/id?name=ann  -> {"id": ...}
"""

from typing import TYPE_CHECKING, Any, Self

import aiohttp
import msgspec
from aiohttp import web

from rejoinder.testing.platform.faults import Fault, Kind, Verb
from rejoinder.testing.platform.truth import Call, Frame

if TYPE_CHECKING:
    from rejoinder.testing.platform.fake import FakePlatform


def control_routes(platform: "FakePlatform") -> list[web.RouteDef]:
    async def say(request: web.Request) -> web.Response:
        return _json({"id": await platform.says(**await request.json())})

    async def fault(request: web.Request) -> web.Response:
        platform.faults.add(msgspec.json.decode(await request.read(), type=Fault))
        return _json({})

    async def rate(request: web.Request) -> web.Response:
        platform.faults.rate(**await request.json())
        return _json({})

    async def frames(request: web.Request) -> web.Response:
        return _json(platform.truth.frames[int(request.query.get("since", 0)) :])

    async def calls(request: web.Request) -> web.Response:
        return _json(platform.truth.calls[int(request.query.get("since", 0)) :])

    async def config(request: web.Request) -> web.Response:
        return web.Response(text=platform.config())

    async def id_of(request: web.Request) -> web.Response:
        return _json({"id": platform.id_of(request.query["name"])})

    return [
        web.post("/control/say", say),
        web.post("/control/fault", fault),
        web.post("/control/rate", rate),
        web.get("/control/frames", frames),
        web.get("/control/calls", calls),
        web.get("/control/config", config),
        web.get("/control/id", id_of),
    ]


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


class RemotePlatform:
    """A fake platform in another process."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def says(self, chat: str, person: str, text: str, **how: Any) -> str:
        said = await self._post("say", {"chat": chat, "person": person, "text": text, **how})
        return msgspec.json.decode(said)["id"]

    async def fault(self, kind: Kind, on: Verb = "send", **how: Any) -> None:
        await self._post("fault", {"kind": kind, "on": on, **how})

    async def rate(self, on: Verb, kind: Kind, probability: float) -> None:
        await self._post("rate", {"on": on, "kind": kind, "probability": probability})

    async def frames(self, since: int = 0) -> list[Frame]:
        return msgspec.json.decode(await self._get(f"frames?since={since}"), type=list[Frame])

    async def calls(self, since: int = 0) -> list[Call]:
        return msgspec.json.decode(await self._get(f"calls?since={since}"), type=list[Call])

    async def config(self) -> str:
        return (await self._get("config")).decode()

    async def id_of(self, name: str) -> str:
        return msgspec.json.decode(await self._get(f"id?name={name}"))["id"]

    async def _get(self, what: str) -> bytes:
        assert self._session is not None
        async with self._session.get(f"{self.url}/control/{what}") as answer:
            answer.raise_for_status()
            return await answer.read()

    async def _post(self, what: str, value: object) -> bytes:
        assert self._session is not None
        async with self._session.post(f"{self.url}/control/{what}", data=msgspec.json.encode(value)) as answer:
            answer.raise_for_status()
            return await answer.read()
