"""The gateway is killed with browsers on the line: they come back to where they were (DU-1, surface.md)."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from rejoinder.testing.patience import PATIENCE
from tests.web.running import Page

PROGRAM = (sys.executable, "-c", "from rejoinder.cli import main; main()", "run")
CONFIG = '[agents.tour]\nkind = "tour"\n'
ROOM = "tour~you"


@asynccontextmanager
async def gateway(folder: Path, port: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    (folder / "rejoinder.toml").write_text(CONFIG)
    process = await asyncio.create_subprocess_exec(*PROGRAM, "--port", port, cwd=folder, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        async for line in process.stdout:
            if line.startswith(b"The chat is at "):
                yield process, line.decode().removeprefix("The chat is at ").strip()
                break
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_browser_comes_back_after_kill_9(tmp_path):
    """What was confirmed is there, what was not is sent again, and nothing is there twice."""
    async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as http:
        async with gateway(tmp_path, "0") as (process, url), http.ws_connect(f"{url}/socket") as socket:
            page = Page(socket)
            await page.send(type="hello", protocol=1)
            journal = (await page.told("welcome"))["journal"]
            for number in range(3):
                await page.send(type="say", client=f"c{number}", room=ROOM, text=f"/whoami {number}")
                await page.told("done", client=f"c{number}")
            await page.send(type="say", client="c3", room=ROOM, text="/whoami 3")
            process.kill()
        seq = max(frame.get("seq", 0) for frame in page.frames)
        async with gateway(tmp_path, url.rpartition(":")[2]) as (_, url), http.ws_connect(f"{url}/socket") as socket:
            page = Page(socket)
            await page.send(type="hello", protocol=1, seq=seq, journal=journal)
            assert (await page.told("welcome"))["resumed"] is True
            await page.send(type="say", client="c3", room=ROOM, text="/whoami 3")
            await page.told("done", client="c3")
            await page.send(type="history", client="h", room=ROOM)
            said = [message for message in (await page.told("page"))["messages"] if message["author"] == "you"]
    assert Counter(message["text"] for message in said) == {f"/whoami {number}": 1 for number in range(4)}
    assert all(frame["seq"] > seq for frame in page.frames if "seq" in frame and frame["type"] != "welcome")
