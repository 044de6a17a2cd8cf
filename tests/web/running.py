"""The whole of `rejoinder run` on a free port, in this process, with a client beside it."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import aiohttp
import msgspec

from rejoinder.agents.base import Agent
from rejoinder.channels.web import Settings as WebSettings
from rejoinder.config import schema
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.programs.serving import Play, serve, with_page
from rejoinder.runtime.cluster_member import ProcessRole
from rejoinder.testing.patience import PATIENCE


def settings(
    replies: tuple[Any, ...] = ("Hello.",), agents: tuple[str, ...] = ("helper",), store: str = "", **web: Any
) -> schema.Settings:
    several = {"agents": agents} if len(agents) > 1 else {"agent": agents[0]}
    common = CommonChannelSettings(dm="open", groups="open", require_mention=False, **several)
    page = WebSettings(**{"port": 0, **web})
    return schema.Settings(
        gateway=schema.GatewaySettings(store=store or "sqlite::memory:"),
        agents={name: schema.ConfiguredAgent("scripted", {"script": _script(replies)}) for name in agents},
        channels={"web": schema.ConfiguredChannel("web", common, page)},
    )


def _script(replies: tuple[Any, ...]) -> str:
    content = msgspec.json.encode(replies)
    file = Path(gettempdir()) / f"rejoinder-replies-{blake2b(content).hexdigest()[:16]}.json"
    fresh = file.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(content)
    fresh.replace(file)  # other tests on this machine may be reading it: they find it whole
    return str(file)


class Site:
    def __init__(self, said: list[str], http: aiohttp.ClientSession) -> None:
        self.said = said
        self.url = next(line for line in said if line.startswith("The chat is at ")).removeprefix("The chat is at ")
        self.token = next((line.rpartition(" ")[2] for line in said if line.startswith("Log in with this")), None)
        self.http = http

    async def get(self, path: str, **more: Any) -> tuple[int, Any]:
        async with self.http.get(self.url + path, **more) as answer:
            body = await answer.read()
            with suppress(msgspec.DecodeError):
                return answer.status, msgspec.json.decode(body)
            return answer.status, body.decode()

    async def post(self, path: str, **more: Any) -> tuple[int, Any]:
        async with self.http.post(self.url + path, allow_redirects=False, **more) as answer:
            body = await answer.read()
            return answer.status, msgspec.json.decode(body) if body else None

    @asynccontextmanager
    async def page(self, name: str = "", path: str = "/socket", **more: Any) -> AsyncIterator["Page"]:
        async with self.http.ws_connect(self.url + path, **more) as socket:
            page = Page(socket)
            if path == "/socket":
                await page.send(type="hello", protocol=1, name=name)
                await page.told("welcome")
            yield page


class Page:
    """One browser on a real socket; reads only while somebody waits for something."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.frames: list[dict[str, Any]] = []

    async def send(self, **frame: Any) -> None:
        await self.socket.send_str(msgspec.json.encode(frame).decode())

    async def told(self, type: str, **fields: Any) -> dict[str, Any]:
        """The next frame of this type with these fields."""

        def is_it(frame: dict[str, Any]) -> bool:
            return frame["type"] == type and all(frame.get(key) == value for key, value in fields.items())

        return await self._until(is_it)

    async def hears(self, text: str) -> str:
        """A whole message says this, whether it came at once or grew; its id."""

        def is_it(frame: dict[str, Any]) -> bool:
            said = frame.get("message") if frame["type"] == "message" else frame
            return frame["type"] in ("message", "edited") and said["text"] == text and not said.get("growing")

        frame = await self._until(is_it)
        return frame["message"] if frame["type"] == "edited" else frame["message"]["id"]

    async def asked(self) -> dict[str, Any]:
        """The next message with something to press."""
        return (await self._until(lambda frame: frame["type"] == "message" and "choices" in frame["message"]))[
            "message"
        ]

    async def _until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    message = await self.socket.receive()
                    assert message.type is aiohttp.WSMsgType.TEXT, (message, self.frames)
                    self.frames.append(msgspec.json.decode(message.data))
                    if is_it(self.frames[-1]):
                        return self.frames[-1]
        except TimeoutError:
            raise AssertionError(f"waited in vain; was told: {self.frames}") from None


@asynccontextmanager
async def running(
    made: schema.Settings,
    play: Play | None = None,
    agents: dict[str, Agent] | None = None,
    role: ProcessRole = "all",
) -> AsyncIterator[Site]:
    said: list[str] = []
    up = asyncio.Event()

    def say(line: str) -> None:
        said.append(line)
        if "console" in line:
            asyncio.get_running_loop().call_soon(up.set)  # after the lines about the login

    task = asyncio.create_task(
        serve(with_page(made, None if "web" in made.channels else 0), say, agents=agents, play=play, role=role)
    )
    waiting = asyncio.create_task(up.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
        if task.done():
            task.result()
        async with aiohttp.ClientSession() as http:
            yield Site(said, http)
    finally:
        waiting.cancel()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
