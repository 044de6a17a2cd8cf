"""local-slack, a Slack that nobody here wrote, and people who write in it by its control API.

It takes any token, any emoji and any length, forgets metadata and `oldest`, and sends nothing a second time: what it
does not check, the strict personality of FakePlatform does.
"""

import asyncio
import json
import platform
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import aiohttp

from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.ports import free_port
from tests.peers import missing, program_from_npm

PACKAGE = "local-slack-linux-x64"
BOT, ANN, BOB, TEAM, DIRECT = "U0BOT", "U0ANN", "U0BOB", "C0TEAM", "D0ANN"
WORKSPACE = {
    "apps": [
        {
            "appId": "A0APP",
            "botUserId": BOT,
            "botName": "rejoinder",
            "botToken": "xoxb-local",
            "appToken": "xapp-local",
            "signingSecret": "local",
            "mode": "socket",
        }
    ],
    "users": [{"id": ANN, "name": "ann", "real_name": "Ann Example"}, {"id": BOB, "name": "bob", "real_name": "Bob"}],
    "channels": [
        {"id": TEAM, "name": "team", "members": [ANN, BOB, BOT]},
        {"id": DIRECT, "name": "dm-ann", "is_channel": False, "is_im": True, "members": [ANN, BOT]},
    ],
}


class LocalSlack:
    """A running server, and everything it has shown since then."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self.url = url
        self.shown: list[dict[str, Any]] = []
        """Each message as it came, and once more for each change of it."""
        self.connected = False
        self._http = http
        self._changed = asyncio.Event()
        self._screen: aiohttp.ClientWebSocketResponse | None = None
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._screen = await self._http.ws_connect(f"{self.url}/ui", max_msg_size=0)
        self._watching = asyncio.create_task(self._watch(self._screen))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._screen is not None
        assert self._watching is not None
        await self._screen.close()
        await self._watching

    @property
    def config(self) -> str:
        return f'bot_token = "xoxb-local"\napp_token = "xapp-local"\napi_root = "{self.url}/api/"\n'

    # --- what people do -----------------------------------------------------------------------------

    async def says(self, channel: str, user: str, text: str, thread: str | None = None) -> str:
        """Returns when every app has acknowledged it, or after five seconds."""
        how = {"thread_ts": thread} if thread is not None else {}
        return (await self.does("message", channel=channel, user=user, text=text, **how))["message"]["ts"]

    async def does(self, what: str, **how: Any) -> dict[str, Any]:
        async with self._http.post(f"{self.url}/_control/{what}", json=how) as answer:
            told = await answer.json()
            assert told["ok"], told
            return told

    async def sends_file(self, channel: str, user: str, text: str, name: str, content: bytes) -> None:
        form = aiohttp.FormData({"channel": channel, "user": user, "text": text})
        form.add_field("file", content, filename=name, content_type="text/plain")
        async with self._http.post(f"{self.url}/_control/upload", data=form) as answer:
            assert (await answer.json())["ok"]

    async def loads(self, address: str) -> bytes:
        async with self._http.get(address, headers={"Authorization": "Bearer xoxb-local"}) as answer:
            assert answer.status == 200
            return await answer.read()

    # --- what people see ----------------------------------------------------------------------------

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def hears(self, channel: str, text: str) -> dict[str, Any]:
        """The bot's message, as soon as it says exactly this."""
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            found[:] = [each for each in self.frames(channel) if each["text"] == text]
            return bool(found)

        try:
            await self.until(is_there)
        except TimeoutError:
            raise AssertionError(f"{text!r} did not come; there is: {self.frames(channel)}") from None
        return found[-1]

    def frames(self, channel: str) -> list[dict[str, Any]]:
        return [each for each in self.shown if each["channel"] == channel and each.get("user") == BOT]

    def standing(self, channel: str) -> list[dict[str, Any]]:
        """What the bot has said, as it stands there now."""
        return list({each["ts"]: each for each in self.frames(channel)}.values())

    async def _watch(self, screen: aiohttp.ClientWebSocketResponse) -> None:
        async for frame in screen:
            told = frame.json()
            match told.get("t"):
                case "message" | "message_update":
                    self.shown.append(told["message"])
                case "socket_status":
                    self.connected = told["connected"]
                case _:
                    continue
            self._changed.set()


@asynccontextmanager
async def local_slack(folder: Path) -> AsyncIterator[LocalSlack]:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        missing(f"{PACKAGE} is a program for Linux on x64")
    program = await asyncio.to_thread(program_from_npm, PACKAGE, f"{PACKAGE}/bin/local-slack")
    config, port = folder / "workspace.json", free_port()
    config.write_text(json.dumps(WORKSPACE))
    arguments = ("--config", config, "--port", str(port), "--base-host", "127.0.0.1", "--files-dir", folder / "files")
    with (folder / "local-slack.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(program, *arguments, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(2 * PATIENCE), aiohttp.ClientSession() as http:
            while not await _serves(http, url):
                assert process.returncode is None, (folder / "local-slack.log").read_text()
            async with LocalSlack(url, http) as slack:
                yield slack
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _serves(http: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with http.get(f"{url}/_control/state") as answer:
            return answer.status == 200
    except aiohttp.ClientConnectionError:
        await asyncio.sleep(0.02)  # nobody tells when a program listens
        return False
